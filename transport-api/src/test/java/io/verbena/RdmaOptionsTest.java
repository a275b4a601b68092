package io.verbena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.meters.Meters;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class RdmaOptionsTest {
  @Test
  void changesOneOptionAtATime() {
    RdmaOptions changed = RdmaOptions.defaults().window(7);

    assertThat(changed.window()).isEqualTo(7);
    assertThat(changed.window(RdmaOptions.defaults().window())).isEqualTo(RdmaOptions.defaults());
  }

  @Test
  void metersNothingUnlessItIsAskedTo() {
    assertThat(RdmaOptions.defaults().meters()).isSameAs(Meters.OFF);
    assertThatThrownBy(() -> RdmaOptions.defaults().meters(null))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("meters");
  }

  @Test
  void rejectsWhatIsOutOfRangeByNameValueAndLimit() {
    record Bad(String expected, UnaryOperator<RdmaOptions> change) {}
    for (Bad bad :
        List.of(
            new Bad("loops: 0 (expected: 1..1024)", o -> o.loops(0)),
            new Bad("eagerSize: 63", o -> o.eagerSize(63)),
            new Bad("receiveDepth: 3", o -> o.receiveDepth(3)),
            new Bad("sendDepth: 0", o -> o.sendDepth(0)),
            new Bad("window: 0", o -> o.window(0)),
            new Bad("maxMessageSize: -1", o -> o.maxMessageSize(-1)),
            new Bad("readAhead: -1", o -> o.readAhead(-1)),
            new Bad("maxOperations: 0", o -> o.maxOperations(0)),
            new Bad("maxRegisteredBytes: 1 ", o -> o.maxRegisteredBytes(1)),
            new Bad("maxCachedRegistrations: -1", o -> o.maxCachedRegistrations(-1)),
            new Bad("spinTime: -1", o -> o.spinTime(Duration.ofNanos(-1))),
            new Bad("connectTimeout: 0", o -> o.connectTimeout(Duration.ZERO)),
            new Bad("operationTimeout: 0", o -> o.operationTimeout(Duration.ZERO)),
            new Bad("closeTimeout: 0", o -> o.closeTimeout(Duration.ZERO)))) {
      assertThatThrownBy(() -> bad.change.apply(RdmaOptions.defaults()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(bad.expected);
    }
  }
}
