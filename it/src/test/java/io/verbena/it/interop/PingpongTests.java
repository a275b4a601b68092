// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.node.Nodes;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests {@code verbena pingpong} as server and as client of rdma-core's {@code ibv_rc_pingpong},
 * {@code ibv_uc_pingpong} and {@code ibv_ud_pingpong}, which validate the data by a mark in each
 * page, and of {@code ibv_srq_pingpong}, which does not.
 */
abstract class PingpongTests {
  private static final int ROUNDS = 100;

  /** More messages than receives, so that both ends post new ones. */
  private static final String PAIRS = "-q 4 -r 9";

  static final String CLOSING = ROUNDS + " iters in";
  static final Duration LIMIT = Duration.ofMinutes(1);

  /** Returns the HCA of {@code verbena}. */
  abstract Hca hca();

  @ParameterizedTest
  @CsvSource({"rc, 8192, 18601", "uc, 4096, 18602", "ud, 1024, 18603", "srq, 2048, 18609"})
  void asItsServer(String transport, int size, int port) throws Exception {
    Hca hca = hca();
    Tool server = hca.start(tool(transport, size, port, hca.server(), ""));
    Listening.onTcp(port, hca);
    try (Program client = start(transport, size, port, "rxe0", hca.server())) {
      assertThat(client.succeed(LIMIT)).contains(CLOSING);
    }
    assertThat(server.succeed(LIMIT)).contains(CLOSING);
  }

  @ParameterizedTest
  @CsvSource({"rc, 8192, 18604", "uc, 4096, 18605", "ud, 1024, 18606", "srq, 2048, 18610"})
  void asItsClient(String transport, int size, int port) throws Exception {
    try (Program server = start(transport, size, port, "rxe1", "")) {
      Listening.onTcp(port);
      Hca hca = hca();
      Tool client = hca.start(tool(transport, size, port, hca.client(), Nodes.node2()));
      assertThat(client.succeed(LIMIT)).contains(CLOSING);
      assertThat(server.succeed(LIMIT)).contains(CLOSING).doesNotContain("invalid data");
    }
  }

  final String tool(String transport, int size, int port, String device, String to) {
    return "pingpong -c %s -d %s://%s -p %d -n %d -s %d %s"
        .formatted(
            transport.equals("srq") ? "-e --srq " + PAIRS : "--transport " + transport,
            hca().scheme(),
            device,
            port,
            ROUNDS,
            size,
            to);
  }

  static Program start(String transport, int size, int port, String device, String to)
      throws IOException {
    String line =
        "ibv_%s_pingpong %s -d %s -g 1 -p %d -n %d -s %d %s"
            .formatted(
                transport, transport.equals("srq") ? PAIRS : "-c", device, port, ROUNDS, size, to);
    return Program.start(line.strip().split(" ", -1));
  }
}
