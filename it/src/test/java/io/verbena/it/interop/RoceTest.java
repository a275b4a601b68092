// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Outside;
import io.verbena.it.node.PacketLoss;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the emulated HCA on UDP sockets, on a host of its own, against C programs on the kernel's
 * devices; Wireshark then checks all packets between them.
 */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
class RoceTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /** The heuristic dissectors that Wireshark would apply to payloads. */
  private static final List<String> GUESSES =
      List.of(
          "fcoib",
          "infiniband.eoib",
          "infiniband_sdp",
          "iser",
          "lnet",
          "nvme-rdma",
          "rpcordma",
          "smb_direct",
          "smc");

  @TempDir private static Path folder;
  private static Path capture;
  private static OutsideHca outside;

  @BeforeAll
  static void open() throws IOException {
    capture = folder.resolve("roce.pcap");
    outside = OutsideHca.start(folder, capture);
  }

  @AfterAll
  static void nothingWasMalformed() throws Exception {
    if (outside != null) {
      outside.end();
      assertThat(packetKinds())
          .as("opcodes of all packets, each with what is wrong")
          .allMatch(kind -> kind.matches("\\d+"))
          // RC: SEND, WRITE, READ and its response, ACK, FETCH_ADD and its response; UC and UD:
          // SEND, on UD also with immediate data.
          .contains("4", "10", "12", "16", "17", "18", "20", "34", "100", "101");
    }
  }

  private static List<String> packetKinds() throws IOException, InterruptedException {
    List<String> line = new ArrayList<>(List.of("tshark", "-n", "-r", capture.toString()));
    for (String guess : GUESSES) {
      line.addAll(List.of("--disable-protocol", guess));
    }
    for (String field : List.of("infiniband.bth.opcode", "_ws.malformed", "_ws.short")) {
      line.addAll(List.of("-e", field));
    }
    line.addAll(List.of("-T", "fields"));
    return Program.run(line)
        .lines()
        // tshark prints this line on standard error.
        .filter(each -> !each.startsWith("Running as user"))
        .map(String::strip)
        .distinct()
        .collect(Collectors.toList());
  }

  /** Runs first, as it has the longest timeout, which a newly started JVM needs. */
  @Nested
  @Order(1)
  class Rping extends RpingTests {
    @Override
    Hca hca() {
      return outside;
    }

    @Test
    void isRefusedWhereNobodyListens() throws Exception {
      Tool client = outside.start("ping -c -a roce://%s:7999 -C 1".formatted(Nodes.node2()));
      assertThat(client.fail(LIMIT)).contains("REJECTED, error 8");
      String line = "rping -c -a %s -p 7999 -I %s -C 1";
      try (Program rping =
          Program.start(line.formatted(Outside.address(), Nodes.node1()).split(" ", -1))) {
        assertThat(rping.exitCode(LIMIT)).isNotZero();
        assertThat(rping.output()).contains("RDMA_CM_EVENT_REJECTED, error 8");
      }
    }
  }

  @Nested
  class Pingpong extends PingpongTests {
    /** The longest time between the ends of both programs, if the second one ends. */
    private static final Duration LONGEST_GOODBYE = Duration.ofSeconds(20);

    @Override
    Hca hca() {
      return outside;
    }

    @Test
    void arrivesWholeAtItsClientWhilePacketsAreLost() throws Exception {
      PacketLoss.strikes(
          2,
          () -> {
            try (Program theirs = start("rc", 8192, 18_607, "rxe1", "")) {
              Listening.onTcp(18_607);
              String line = tool("rc", 8192, 18_607, outside.client(), Nodes.node2());
              assertAllCame(outside.start(line), theirs);
            }
          });
    }

    @Test
    void arrivesWholeAtItsServerWhilePacketsAreLost() throws Exception {
      PacketLoss.strikes(
          2,
          () -> {
            Tool ours = outside.start(tool("rc", 8192, 18_608, outside.server(), ""));
            Listening.onTcp(18_608, outside);
            try (Program theirs = start("rc", 8192, 18_608, "rxe0", outside.server())) {
              assertAllCame(ours, theirs);
            }
          });
    }

    /**
     * Asserts that all messages arrived. An end that has all messages and acknowledgements exits
     * without notice. If its own last acknowledgement is lost, its peer repeats the last message in
     * vain: ours gives up, and theirs never does, as rxe takes a {@code retry_cnt} of 7 as
     * unlimited. The end that exited has received everything, and all its messages were
     * acknowledged.
     */
    private static void assertAllCame(Tool ours, Program theirs) throws Exception {
      int ourExit = ours.exitCode(LIMIT);
      String told = ours + ": " + ours.output();
      assertThat(ours.output()).as(told).contains(ourExit == 0 ? CLOSING : "RETRY_EXC_ERR");
      if (ourExit == 0 && !theirs.ends(LONGEST_GOODBYE)) {
        System.err.println("ibv_rc_pingpong asks for an acknowledgement that was lost");
        return;
      }
      assertThat(theirs.exitCode(LIMIT)).as(told + theirs.output()).isZero();
      assertThat(theirs.output()).contains(CLOSING);
    }
  }

  @Nested
  class Perftest extends PerftestTests {
    @Override
    Hca hca() {
      return outside;
    }

    @Test
    void connectsByTheConnectionManager() throws Exception {
      Tool both =
          outside.start(
              "perf send bw -R -b -q 2 -e --local -d roce://%s -p 18740 -n 100 -s 4096"
                  .formatted(outside.server()));
      assertThat(both.succeed(LIMIT))
          .contains("rdma_cm QPs     : ON")
          .containsPattern("\n 4096 +200 ");
    }
  }

  @Nested
  class Udaddy extends UdaddyTests {
    @Override
    Hca hca() {
      return outside;
    }
  }
}
