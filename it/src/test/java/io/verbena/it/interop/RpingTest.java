package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code verbena ping} as server and as client of rdma-core's {@code rping}. */
@InSoftRoceGuest(nodes = 2)
class RpingTest {
  private static final int PINGS = 30;
  private static final int MOST = 65_000;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @ParameterizedTest
  @ValueSource(ints = {64, MOST})
  void servesIt(int size) throws Exception {
    int port = 7300 + size % 2;
    Tool server =
        Tool.start("ping -s -v -V -a disni://%s -p %d -S %d".formatted(Nodes.node2(), port, size));
    Listening.onManager(port);
    String line =
        "rping -c -v -V -a %s -p %d -I %s -C %d -S %d"
            .formatted(Nodes.node2(), port, Nodes.node1(), PINGS, size);
    try (Program rping = Program.start(line.split(" ", -1))) {
      // It compares what it sent with what came back, and fails if they differ.
      assertThat(rping.succeed(LIMIT)).contains("ping data: rdma-ping-" + (PINGS - 1) + ":");
    }
    assertThat(server.succeed(LIMIT))
        .contains("server ping data: rdma-ping-0: ABCDEF")
        .contains("server ping data: rdma-ping-" + (PINGS - 1) + ": ");
  }

  @ParameterizedTest
  @ValueSource(ints = {64, MOST})
  void isServedByIt(int size) throws Exception {
    int port = 7200 + size % 2;
    String line = "rping -s -v -a %s -p %d -C %d -S %d";
    try (Program rping =
        Program.start(line.formatted(Nodes.node2(), port, PINGS, size).split(" ", -1))) {
      Listening.onManager(port);
      Tool client =
          Tool.start(
              "ping -c -v -V -a disni://%s:%d -I %s -C %d -S %d"
                  .formatted(Nodes.node2(), port, Nodes.node1(), PINGS, size));
      assertThat(client.succeed(LIMIT)).contains("ping data: rdma-ping-" + (PINGS - 1) + ": ");
      assertThat(rping.succeed(LIMIT))
          .contains("server ping data: rdma-ping-" + (PINGS - 1) + ": ");
    }
  }
}
