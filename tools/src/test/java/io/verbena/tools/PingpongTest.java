package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
