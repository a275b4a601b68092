// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.iwarp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the reactive layer and the Netty channels do on any HCA, unchanged, on {@code disni://} with
 * devices that have no immediate data and no atomics, and of which one wants the peer to have the
 * right to write what a READ writes. Left out are tests whose peer posts immediate data by hand.
 */
@Tag("once")
class IwarpTest {
  private static final Path DISNI = Path.of("../transport-disni").toAbsolutePath().normalize();

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
  void carriesTheReactiveLayerAndNettysChannels(String host) throws Exception {
    Path fake = DISNI.resolve("target/fake-rdma-core/libfake_rdma_core.so");
    if (!Files.isRegularFile(fake)) {
      System.err.println("*** SKIPPED, NOT TESTED HERE: iWARP by a fake rdma-core. " + fake);
    }
    assumeTrue(Files.isRegularFile(fake), () -> fake + ": not built");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:+IgnoreUnrecognizedVMOptions",
                "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED",
                "-Dio.netty.leakDetection.level=paranoid",
                "-Dverbena.test.hca=disni://" + host,
                "-Dverbena.test.patience=3",
                "-Dverbena.test.rounds=5",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Suites.class.getName()));
    command.addAll(SUITES);

    String output = run(command, fake);

    assertThat(output).containsPattern("succeeded: [1-9]\\d\\d+\n").endsWith("exit code 0");
  }

  private static String run(List<String> command, Path fake)
      throws IOException, InterruptedException {
    ProcessBuilder program = new ProcessBuilder(command).redirectErrorStream(true);
    program.environment().put("LD_PRELOAD", fake.toString());
    program.environment().put("FAKE_RDMA_CORE", DISNI + "/src/test/native/fake-rdma-core/profiles");
    Process process = program.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return output + "exit code " + process.waitFor();
  }
}
