// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.GuestDevices;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests {@code verbena perf -R} as server and as client of perftest's programs on the kernel's
 * Soft-iWARP. As no message waits for a receive there, receivers report how many they have posted.
 */
@Tag("siw")
@InSoftRoceGuest(nodes = 2, devices = GuestDevices.SIW)
class SiwPerftestTest {
  private static final int COUNT = 200;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /** The HCA of {@code verbena}. */
  abstract static class With {
    private final Hca hca;
    private final int port;

    With(String scheme, int port) {
      hca = new NodeHca(scheme);
      this.port = port;
    }

    @ParameterizedTest
    @CsvSource({
      "1, send, lat, 64",
      "2, write, bw -q 2, 65536",
      "3, read, bw, 65536",
      "4, read, lat, 64",
      "5, send, bw, 65536",
      "6, send, bw -r 16 -q 2, 4096",
      "7, send, bw -r 16 -b, 4096",
    })
    void asItsServer(int number, String verb, String what, int size) throws Exception {
      Tool server = hca.start(tool(verb, what, size, port + number, hca.server(), ""));
      server.awaitOutput("Waiting for client", LIMIT);
      try (Program client = program(verb, what, size, port + number, Nodes.node1(), hca.server())) {
        assertReported(client.succeed(LIMIT), size);
      }
      server.succeed(LIMIT);
    }

    @ParameterizedTest
    @CsvSource({
      "10, send, bw, 65536", "11, send, lat, 64", "12, write, bw -q 2, 65536",
      "13, write, lat, 64", "14, read, bw, 65536", "15, read, lat, 64",
      "16, send, bw -r 16 -q 2, 4096", "17, send, bw -r 16 -b, 4096",
    })
    void asItsClient(int number, String verb, String what, int size) throws Exception {
      try (Program server = program(verb, what, size, port + number, Nodes.node2(), "")) {
        Listening.onManager(port + number);
        Tool client = hca.start(tool(verb, what, size, port + number, hca.client(), Nodes.node2()));
        assertReported(client.succeed(LIMIT), size);
        server.succeed(LIMIT);
      }
    }

    private String tool(String verb, String what, int size, int at, String here, String to) {
      return "perf %s %s -R -d %s://%s -p %d -n %d -s %d %s"
          .formatted(verb, what, hca.scheme(), here, at, COUNT, size, to);
    }

    private static Program program(
        String verb, String what, int size, int at, String here, String to) throws IOException {
      String line =
          "ib_%s_%s -R -F -d %s -p %d -n %d -s %d %s"
              .formatted(
                  verb, what, here.equals(Nodes.node1()) ? "siw0" : "siw1", at, COUNT, size, to);
      return Program.start(line.strip().split(" +", -1));
    }

    private static void assertReported(String output, int size) {
      assertThat(output).containsPattern("(?m)^ *" + size + " +[24]00 ");
    }
  }

  /** On the emulated HCA with TCP sockets. */
  @Nested
  class Emulated extends With {
    Emulated() {
      super("iwarp", 18_900);
    }
  }

  /** On the same device through DiSNI. */
  @Nested
  class Disni extends With {
    Disni() {
      super("disni", 18_930);
    }
  }
}
