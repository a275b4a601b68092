// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PingpongTest {

  @ParameterizedTest
  @CsvSource({"rc, 1", "rc, 9000", "uc, 4096", "ud, 2048"})
  void closesWithTheLinesOfIbvRcPingpong(String transport, int size) {
    Run run = Run.of("pingpong --local -c -n 50 -r 3 --transport " + transport + " -s " + size);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out())
        .containsPattern(
            "^  local address:  LID 0x0000, QPN 0x\\p{XDigit}{6}, PSN 0x\\p{XDigit}{6},")
        .containsPattern("\n  remote address: LID 0x0000, QPN 0x\\p{XDigit}{6}, .*, GID fe80:")
        .containsPattern(
            "\n" + 100L * size + " bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec\n")
        .containsPattern("\n50 iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter\n$");
  }

  @Test
  void refusesADatagramAboveTheMtu() {
    Run run = Run.of("pingpong --local --transport ud -s 4097");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .contains("Requested size larger than port MTU (4096)", "-> give both ends -s 4096");
  }

  @Test
  void goesOverPacketsToo() {
    Run run = Run.of("pingpong --local -c -n 20 -d emulated://packets?wire=simulated");

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out()).contains("20 iters in ");
  }

  @Test
  void takesAServiceLevelAndThePortOfTheDevice() {
    Run run = Run.of("pingpong --local -c -n 20 -i 1 -l 3");

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out()).contains("20 iters in ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-q 4 -r 5",
        "-q 1",
        "-r 256 -q 256 -s 64",
        "-e -q 3",
        "-q 4 -d emulated://shared?wire=simulated&loss=0.05&seed=3",
        "-e -q 4 -d roce://HERE:7461",
      })
  void sharesReceivesAsIbvSrqPingpong(String options) {
    Run run = Run.of("pingpong --local --srq -c -n 200 " + options);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    int pairs = Integer.parseInt(options.replaceAll(".*-q (\\d+).*", "$1"));
    assertThat(run.out().lines().filter(line -> line.startsWith("  local address:  LID 0x0000")))
        .hasSize(pairs)
        .doesNotHaveDuplicates();
    assertThat(run.out().lines().filter(line -> line.startsWith("  remote address: LID 0x0000")))
        .hasSize(pairs)
        .doesNotHaveDuplicates();
    assertThat(run.out()).containsPattern("\n200 iters in \\d+\\.\\d\\d seconds = ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rc", "uc", "ud"})
  void sleepsUntilSomethingCompletes(String transport) {
    Run run = Run.of("pingpong --local -c -e -n 300 -s 1024 --transport " + transport);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out()).contains("300 iters in ");
  }

  @Test
  void saysThatBothEndsNeedAsManyQueuePairs() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    String line = "pingpong -d roce://HERE:7461 --srq -n 10 -p " + port;
    CompletableFuture<Run> server = Run.beside(line + " -q 2");

    Run client =
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> Run.of(line + " -q 3 HERE"), run -> !run.err().contains("refused"));

    assertThat(server.get(30, TimeUnit.SECONDS).err())
        .contains("the other end has 3 queue pairs (expected: 2)", "-> give both ends the same -q");
    assertThat(client.exitCode()).isEqualTo(1);
  }

  @Test
  void saysThatTheServerHasToBeStartedFirst() throws IOException {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }

    Run run = Run.of("pingpong -d disni://127.0.0.1 -p " + free + " 127.0.0.1");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .contains("Couldn't connect to 127.0.0.1:" + free, "-> start the server first");
  }

  @Test
  void saysThatThePortIsTaken() throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      Run run = Run.of("pingpong -d disni://127.0.0.1 -p " + taken.getLocalPort());

      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.err()).contains("Couldn't listen to port " + taken.getLocalPort(), "with -p");
    }
  }
}
