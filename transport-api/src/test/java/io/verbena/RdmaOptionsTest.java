// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.meters.Backlog;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class RdmaOptionsTest {
  private static final List<Option> ALL =
      List.of(
          new Option(
              "pollMode", RdmaOptions::pollMode, PollMode.ADAPTIVE, o -> o.pollMode(PollMode.BUSY)),
          new Option("loops", RdmaOptions::loops, 1, o -> o.loops(2)),
          new Option(
              "spinTime",
              RdmaOptions::spinTime,
              Duration.ofNanos(100_000),
              o -> o.spinTime(Duration.ZERO)),
          new Option(
              "stallWarning",
              RdmaOptions::stallWarning,
              Duration.ofSeconds(2),
              o -> o.stallWarning(Duration.ZERO)),
          new Option(
              "maxRegisteredBytes",
              RdmaOptions::maxRegisteredBytes,
              1L << 31,
              o -> o.maxRegisteredBytes(1 << 16)),
          new Option(
              "maxCachedRegistrations",
              RdmaOptions::maxCachedRegistrations,
              256,
              o -> o.maxCachedRegistrations(0)),
          new Option("eagerSize", RdmaOptions::eagerSize, 8 << 10, o -> o.eagerSize(64)),
          new Option(
              "maxMessageSize", RdmaOptions::maxMessageSize, 1 << 30, o -> o.maxMessageSize(0)),
          new Option("receiveDepth", RdmaOptions::receiveDepth, 64, o -> o.receiveDepth(4)),
          new Option("sendDepth", RdmaOptions::sendDepth, 64, o -> o.sendDepth(4)),
          new Option("window", RdmaOptions::window, 256, o -> o.window(1)),
          new Option("readAhead", RdmaOptions::readAhead, 4 << 20, o -> o.readAhead(0)),
          new Option("maxOperations", RdmaOptions::maxOperations, 4096, o -> o.maxOperations(1)),
          new Option(
              "connectTimeout",
              RdmaOptions::connectTimeout,
              Duration.ofSeconds(10),
              o -> o.connectTimeout(Duration.ofNanos(1))),
          new Option(
              "operationTimeout",
              RdmaOptions::operationTimeout,
              Duration.ofSeconds(30),
              o -> o.operationTimeout(Duration.ofNanos(1))),
          new Option(
              "closeTimeout",
              RdmaOptions::closeTimeout,
              Duration.ofSeconds(10),
              o -> o.closeTimeout(Duration.ofNanos(1))),
          new Option(
              "keepAlive",
              RdmaOptions::keepAlive,
              Duration.ofSeconds(30),
              o -> o.keepAlive(Duration.ZERO)),
          new Option("meters", RdmaOptions::meters, Meters.OFF, o -> o.meters(new OtherMeters())));

  private static final class OtherMeters implements Meters {
    @Override
    public HcaMeter hca(MeteredHca hca) {
      return HcaMeter.OFF;
    }

    @Override
    public Watch watch(String adapter, String provider, Backlog backlog) {
      return () -> {};
    }
  }

  /** An option, its default value, and a builder call that sets another valid value. */
  private record Option(
      String name,
      Function<RdmaOptions, Object> get,
      Object byDefault,
      UnaryOperator<RdmaOptions.Builder> change) {}

  @Test
  void hasTheDefaultsThatAreDocumented() {
    for (Option option : ALL) {
      assertThat(option.get.apply(RdmaOptions.defaults()))
          .as(option.name)
          .isEqualTo(option.byDefault);
    }
    assertThat(RdmaOptions.builder().build()).isEqualTo(RdmaOptions.defaults());
  }

  @Test
  void changesOneOptionAndKeepsTheOthers() {
    for (Option option : ALL) {
      RdmaOptions changed = option.change.apply(RdmaOptions.defaults().toBuilder()).build();

      for (Option each : ALL) {
        boolean isDefault = Objects.equals(each.get.apply(changed), each.byDefault);
        assertThat(isDefault)
            .as("%s after a change of %s", each.name, option.name)
            .isEqualTo(!each.name.equals(option.name));
      }
    }
  }

  @Test
  void isEqualByEveryOption() {
    for (Option option : ALL) {
      RdmaOptions changed = option.change.apply(RdmaOptions.builder()).build();

      assertThat(changed).as(option.name).isNotEqualTo(RdmaOptions.defaults());
      assertThat(changed.toBuilder().build())
          .as(option.name)
          .isEqualTo(changed)
          .hasSameHashCodeAs(changed)
          .hasToString(changed.toString());
    }
  }

  @Test
  void namesEveryOptionInItsText() {
    for (Option option : ALL) {
      assertThat(RdmaOptions.defaults().toString()).contains(option.name + '=');
    }
  }

  @Test
  void aBuilderThatGoesOnLeavesWhatItBuiltAlone() {
    RdmaOptions.Builder builder = RdmaOptions.builder().window(7);
    RdmaOptions built = builder.build();

    builder.window(8);

    assertThat(built.window()).isEqualTo(7);
    assertThat(builder.build().window()).isEqualTo(8);
  }

  @Test
  void rejectsNullByName() {
    record Bad(String name, UnaryOperator<RdmaOptions.Builder> change) {}
    for (Bad bad :
        List.of(
            new Bad("pollMode", o -> o.pollMode(null)),
            new Bad("spinTime", o -> o.spinTime(null)),
            new Bad("connectTimeout", o -> o.connectTimeout(null)),
            new Bad("operationTimeout", o -> o.operationTimeout(null)),
            new Bad("closeTimeout", o -> o.closeTimeout(null)),
            new Bad("keepAlive", o -> o.keepAlive(null)),
            new Bad("meters", o -> o.meters(null)))) {
      assertThatThrownBy(() -> bad.change.apply(RdmaOptions.builder()))
          .isInstanceOf(NullPointerException.class)
          .hasMessage(bad.name);
    }
  }

  @Test
  void rejectsWhatIsOutOfRangeByNameValueAndLimits() {
    record Bad(String message, UnaryOperator<RdmaOptions.Builder> change) {}
    Duration tooLong = Duration.ofNanos(Long.MAX_VALUE).plusNanos(1);
    for (Bad bad :
        List.of(
            new Bad("loops: 0 (expected: 1 to 1024)", o -> o.loops(0)),
            new Bad("loops: 1025 (expected: 1 to 1024)", o -> o.loops(1025)),
            new Bad("eagerSize: 63 (expected: 64 to 1048576)", o -> o.eagerSize(63)),
            new Bad("receiveDepth: 3 (expected: 4 to 32768)", o -> o.receiveDepth(3)),
            new Bad("sendDepth: 0 (expected: 4 to 32768)", o -> o.sendDepth(0)),
            new Bad("window: 0 (expected: 1 to 1048576)", o -> o.window(0)),
            new Bad("maxMessageSize: -1 (expected: 0 to 2147483583)", o -> o.maxMessageSize(-1)),
            new Bad("readAhead: -1 (expected: 0 to 2147483647)", o -> o.readAhead(-1)),
            new Bad("maxOperations: 0 (expected: 1 to 1048576)", o -> o.maxOperations(0)),
            new Bad(
                "maxRegisteredBytes: 1 (expected: 65536 to 9223372036854775807)",
                o -> o.maxRegisteredBytes(1)),
            new Bad(
                "maxCachedRegistrations: -1 (expected: 0 to 1048576)",
                o -> o.maxCachedRegistrations(-1)),
            new Bad(
                "spinTime: PT-0.000000001S (expected: 0 to 9223372036854775807 ns)",
                o -> o.spinTime(Duration.ofNanos(-1))),
            new Bad(
                "connectTimeout: PT0S (expected: 1 to 9223372036854775807 ns)",
                o -> o.connectTimeout(Duration.ZERO)),
            new Bad(
                "operationTimeout: PT0S (expected: 1 to 9223372036854775807 ns)",
                o -> o.operationTimeout(Duration.ZERO)),
            new Bad(
                "closeTimeout: " + tooLong + " (expected: 1 to 9223372036854775807 ns)",
                o -> o.closeTimeout(tooLong)),
            new Bad(
                "keepAlive: PT-0.000000001S (expected: 0 to 9223372036854775807 ns)",
                o -> o.keepAlive(Duration.ofNanos(-1))))) {
      assertThatThrownBy(() -> bad.change.apply(RdmaOptions.builder()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(bad.message);
    }
  }

  @Test
  void blamesTheCallThatPassedABadValue() {
    assertThatThrownBy(() -> RdmaOptions.builder().loops(0))
        .satisfies(
            e ->
                assertThat(e.getStackTrace())
                    .anySatisfy(
                        frame ->
                            assertThat(frame.getClassName())
                                .isEqualTo(RdmaOptionsTest.class.getName())));
  }
}
