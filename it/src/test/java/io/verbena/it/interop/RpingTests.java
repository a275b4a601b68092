// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.node.Nodes;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code verbena ping} as server and as client of rdma-core's {@code rping}. */
abstract class RpingTests {
  private static final int PINGS = 30;
  private static final int MOST = 65_000;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /** Returns the HCA of {@code verbena}. */
  abstract Hca hca();

  @ParameterizedTest
  @ValueSource(ints = {64, MOST})
  void servesIt(int size) throws Exception {
    int port = 7300 + size % 7;
    Hca hca = hca();
    Tool server =
        hca.start(
            "ping -s -v -V -a %s://%s -p %d -S %d"
                .formatted(hca.scheme(), hca.server(), port, size));
    server.awaitOutput("listening at ", LIMIT);
    String line =
        "rping -c -v -V -a %s -p %d -I %s -C %d -S %d"
            .formatted(hca.server(), port, Nodes.node1(), PINGS, size);
    try (Program rping = Program.start(line.split(" ", -1))) {
      // rping compares the data that it sent and received, and fails if they differ.
      assertThat(rping.succeed(LIMIT)).contains("ping data: rdma-ping-" + (PINGS - 1) + ":");
    }
    assertThat(server.succeed(LIMIT))
        .contains("server ping data: rdma-ping-0: ABCDEF")
        .contains("server ping data: rdma-ping-" + (PINGS - 1) + ": ");
  }

  @ParameterizedTest
  @ValueSource(ints = {64, MOST})
  void isServedByIt(int size) throws Exception {
    int port = 7200 + size % 7;
    String line = "rping -s -v -a %s -p %d -C %d -S %d";
    try (Program rping =
        Program.start(line.formatted(Nodes.node2(), port, PINGS, size).split(" ", -1))) {
      Listening.onManager(port);
      Hca hca = hca();
      Tool client =
          hca.start(
              "ping -c -v -V -a %s://%s:%d -I %s -C %d -S %d"
                  .formatted(hca.scheme(), Nodes.node2(), port, hca.client(), PINGS, size));
      assertThat(client.succeed(LIMIT)).contains("ping data: rdma-ping-" + (PINGS - 1) + ": ");
      assertThat(rping.succeed(LIMIT))
          .contains("server ping data: rdma-ping-" + (PINGS - 1) + ": ");
    }
  }
}
