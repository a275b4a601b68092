// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.node.Nodes;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Tests {@code verbena datagrams} as server and as client of rdma-core's {@code udaddy}: datagrams
 * to queue pairs that the connection managers resolve.
 */
abstract class UdaddyTests {
  /** The port of udaddy is fixed. */
  private static final int PORT = 7174;

  private static final String ALIKE = "-c 3 -C 20 -S 1000";
  private static final String CLOSING = "data transfers complete";
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /** Returns the HCA of {@code verbena}. */
  abstract Hca hca();

  @Test
  void isServedByIt() throws Exception {
    Hca hca = hca();
    try (Program udaddy = udaddy("-b %s %s".formatted(Nodes.node2(), ALIKE))) {
      Listening.onManager(PORT);
      Tool client =
          hca.start(
              "datagrams -s %s://%s -b %s %s"
                  .formatted(hca.scheme(), Nodes.node2(), hca.client(), ALIKE));
      // udaddy compares the data that it sent and received, and fails if they differ.
      assertThat(client.succeed(LIMIT)).contains(CLOSING);
      assertThat(udaddy.succeed(LIMIT)).contains(CLOSING);
    }
  }

  @Test
  void servesIt() throws Exception {
    Hca hca = hca();
    Tool server = hca.start("datagrams -b %s://%s %s".formatted(hca.scheme(), hca.server(), ALIKE));
    server.awaitOutput("listening at ", LIMIT);
    String line = "-s %s -b %s %s".formatted(hca.server(), Nodes.node1(), ALIKE);
    try (Program udaddy = udaddy(line)) {
      assertThat(udaddy.succeed(LIMIT)).contains(CLOSING);
    }
    assertThat(server.succeed(LIMIT)).contains(CLOSING);
  }

  @Test
  void isUnreachableWhereNobodyServes() throws Exception {
    Hca hca = hca();
    String line = "datagrams -s %s://%s:7999 -b %s";
    Tool client = hca.start(line.formatted(hca.scheme(), Nodes.node2(), hca.client()));
    assertThat(client.fail(LIMIT)).contains("UNREACHABLE, error 1 ");
    try (Program udaddy = udaddy("-s %s -b %s".formatted(hca.server(), Nodes.node1()))) {
      assertThat(udaddy.exitCode(LIMIT)).isNotZero();
      assertThat(udaddy.output()).contains("RDMA_CM_EVENT_UNREACHABLE, error: 1");
    }
  }

  private static Program udaddy(String options) throws IOException {
    return Program.start(("udaddy " + options).split(" ", -1));
  }
}
