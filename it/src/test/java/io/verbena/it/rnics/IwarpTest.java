// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the reactive layer and the Netty channels, unchanged, on {@code disni://} with devices that
 * have no immediate data and no atomics. One device needs remote write access to the memory that a
 * READ writes. Excludes tests whose peer posts immediate data itself.
 */
@Tag("once")
class IwarpTest {
  private static final List<String> SUITES =
      List.of(
          "io.verbena.reactor.lifecycle.CloseTest",
          "io.verbena.reactor.lifecycle.ConnectTest",
          "io.verbena.reactor.messages.CreditTest",
          "io.verbena.reactor.messages.MessageTest",
          "io.verbena.reactor.messages.SendSlotTest",
          "io.verbena.reactor.onesided.OneSidedTest",
          "io.verbena.netty.ClosingTest",
          "io.verbena.netty.ConnectingTest",
          "io.verbena.netty.MemoryLimitTest",
          "io.verbena.netty.TransferTest",
          "io.verbena.netty.WritePromiseTest");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "10.0.7.1", // siw
        "10.0.16.1" // irdma
      })
  @Execution(ExecutionMode.CONCURRENT)
  void carriesTheReactiveLayerAndNettysChannels(String host) throws Exception {
    List<String> options =
        List.of(
            "-Dverbena.test.hca=disni://" + host,
            "-Dverbena.test.patience=3",
            "-Dverbena.test.rounds=5");

    String output = FakeRnics.run(options, Map.of(), SUITES);

    assertThat(output).containsPattern("succeeded: [1-9]\\d\\d+\n").endsWith("exit code 0");
  }
}
