// SPDX-License-Identifier: Apache-2.0
package io.verbena.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.PacketLoss;
import java.io.IOException;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks with programs of rdma-core and perftest that the guest is as the other tests expect. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class SoftRoceDeviceTest {
  private static final String NODE1 = System.getenv("VERBENA_NODE1");
  private static final String NODE2 = System.getenv("VERBENA_NODE2");

  @AfterEach
  void mendTheLink() throws Exception {
    Program.run("link-loss", "0");
    Program.run("link-up");
  }

  @Test
  void hasADevicePerNodeWithTheLargestMtu() throws Exception {
    for (String device : new String[] {"rxe0", "rxe1"}) {
      assertThat(Program.run("ibv_devinfo", "-d", device))
          .containsPattern("hca_id:\\s+" + device)
          .containsPattern("state:\\s+PORT_ACTIVE")
          .containsPattern("active_mtu:\\s+4096");
    }
  }

  @Test
  void locksAsMuchMemoryAsItLikes() throws Exception {
    assertThat(Program.run("bash", "-c", "ulimit -l")).isEqualTo("unlimited\n");
  }

  @Test
  void connectsTheNodesOverTheCable() throws Exception {
    long before = packetsThroughTheSwitch();
    assertThat(ping(NODE1, NODE2)).contains("rdma-ping-19:");
    // Each of the 20 pings is a SEND, a READ, a WRITE and more SENDs.
    assertThat(packetsThroughTheSwitch() - before).isGreaterThan(100);
  }

  @Test
  void connectsTheOtherWayRound() throws Exception {
    assertThat(ping(NODE2, NODE1)).contains("rdma-ping-19:");
  }

  @Test
  void connectsByIpv6() throws Exception {
    assertThat(ping(System.getenv("VERBENA_NODE1_IPV6"), System.getenv("VERBENA_NODE2_IPV6")))
        .contains("rdma-ping-19:");
  }

  @Test
  void connectsANodeWithItself() throws Exception {
    assertThat(ping(NODE1, NODE1)).contains("rdma-ping-19:");
  }

  @Test
  void losesPacketsAndCompletes() throws Exception {
    String[] exchange = {"ib_write_bw", "-F", "-x", "1", "-n", "100", "-d"};
    PacketLoss.strikes(2, () -> exchanged(exchange));
  }

  private static void exchanged(String... exchange) throws Exception {
    try (var server = Program.start(with(exchange, "rxe1"))) {
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> Program.run("ss", "-Hltn", "sport = :18515").contains("LISTEN"));
      try (var client = Program.start(with(exchange, "rxe0", NODE2))) {
        // 100 messages of 64 KiB each.
        assertThat(client.succeed(Duration.ofMinutes(2))).containsPattern("65536 +100 ");
      }
      server.succeed(Duration.ofMinutes(1));
    }
  }

  private static String[] with(String[] line, String... more) {
    return Stream.concat(Stream.of(line), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void carriesNothingWhileTheCableIsOut() throws Exception {
    Program.run("link-down", "2");
    assertThat(Program.run("rdma", "link", "show", "rxe1/1")).contains("state DOWN");
    Program.run("link-up", "2");
    assertThat(ping(NODE1, NODE2)).contains("rdma-ping-19:");
  }

  /** Runs twenty pings of rping between two addresses; returns the client's output. */
  private static String ping(String from, String to) throws Exception {
    try (var server = Program.start("rping", "-s", "-a", to, "-C", "20")) {
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> Program.run("rdma", "resource", "show", "cm_id").contains("LISTEN"));
      try (var client = Program.start("rping", "-c", "-v", "-a", to, "-I", from, "-C", "20")) {
        String output = client.succeed(Duration.ofMinutes(2));
        server.succeed(Duration.ofMinutes(1));
        return output;
      }
    }
  }

  private static long packetsThroughTheSwitch() throws IOException, InterruptedException {
    return Long.parseLong(
        Program.run(
                "bash", "-c", "ip netns exec switch cat /sys/class/net/port1/statistics/rx_packets")
            .strip());
  }
}
