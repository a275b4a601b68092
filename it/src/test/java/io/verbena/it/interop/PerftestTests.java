// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.node.Nodes;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code verbena perf} as server and as client of each program of perftest. */
abstract class PerftestTests {
  private static final int COUNT = 100;
  private static final int PORT = 18_700;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /** Returns the HCA of {@code verbena}. */
  abstract Hca hca();

  @ParameterizedTest
  @CsvSource({
    "0, send, bw, 4096",
    "1, send, lat, 256",
    "2, write, bw, 65536",
    "3, write, lat, 256",
    "4, read, bw, 65536",
    "5, read, lat, 256",
    "6, atomic, bw, 8",
    "7, atomic, lat, 8",
    "8, send, bw -b -q 2 -e, 4096",
    "20, send, bw -R, 4096",
    "21, write, lat -R, 256",
    "22, read, bw -R -q 2, 65536",
  })
  void asItsServer(int number, String verb, String what, int size) throws Exception {
    int port = PORT + number;
    Hca hca = hca();
    Tool server = hca.start(tool(verb, what, size, port, hca.server(), ""));
    if (isManaged(what)) {
      server.awaitOutput("Waiting for client", LIMIT);
    } else {
      Listening.onTcp(port, hca);
    }
    try (Program client = start(verb, what, size, port, "rxe0", hca.server())) {
      assertReported(client.succeed(LIMIT), size);
    }
    String told = server.succeed(LIMIT);
    // The server of READ and atomic latency tests has nothing to report.
    if (!what.equals("lat") || verb.equals("send") || verb.equals("write")) {
      assertReported(told, size);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "10, send, bw, 4096",
    "11, send, lat, 256",
    "12, write, bw, 65536",
    "13, write, lat, 256",
    "14, read, bw, 65536",
    "15, read, lat, 256",
    "16, atomic, bw, 8",
    "17, atomic, lat, 8",
    "18, read, bw -b -q 2 -e, 4096",
    "19, write, bw -b -q 2, 4096",
    "23, send, lat -R, 256",
    "24, write, bw -R -b -q 2, 4096",
    "25, read, lat -R, 256",
    "26, atomic, bw -R, 8",
  })
  void asItsClient(int number, String verb, String what, int size) throws Exception {
    int port = PORT + number;
    try (Program server = start(verb, what, size, port, "rxe1", "")) {
      if (isManaged(what)) {
        Listening.onManager(port);
      } else {
        Listening.onTcp(port);
      }
      Hca hca = hca();
      Tool client = hca.start(tool(verb, what, size, port, hca.client(), Nodes.node2()));
      assertReported(client.succeed(LIMIT), size);
      server.succeed(LIMIT);
    }
  }

  private String tool(String verb, String what, int size, int port, String device, String to) {
    return "perf %s %s -d %s://%s -p %d -n %d %s %s"
        .formatted(verb, what, hca().scheme(), device, port, COUNT, size(verb, size), to);
  }

  private static Program start(
      String verb, String what, int size, int port, String device, String to) throws IOException {
    String line =
        "ib_%s_%s -F -d %s -x 1 -p %d -n %d %s %s"
            .formatted(verb, what, device, port, COUNT, size(verb, size), to);
    return Program.start(line.strip().split(" +", -1));
  }

  /** Returns whether the connection manager is used, rather than TCP. */
  private static boolean isManaged(String what) {
    return what.contains("-R");
  }

  /** Atomics have a fixed size. */
  private static String size(String verb, int size) {
    return verb.equals("atomic") ? "" : "-s " + size;
  }

  /**
   * Asserts that the output has a line of the table, with the count of each queue pair or of all.
   */
  private static void assertReported(String output, int size) {
    assertThat(output).containsPattern("(?m)^ *" + size + " +[1-3]00 ");
  }
}
