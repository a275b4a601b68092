package io.verbena.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TargetTest {

  @Test
  void travelsAsText() {
    Target target = new Target(0x7fff_0000_1000L, -5);

    assertThat(Target.decode(target.encode())).isEqualTo(target);
  }

  @Test
  void refusesWhatIsNone() {
    assertThatThrownBy(() -> Target.decode("accept"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("target: accept (expected: ADDRESS KEY)");
  }
}
