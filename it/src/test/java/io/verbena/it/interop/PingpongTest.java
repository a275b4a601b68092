package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * A queue pair that no connection manager made, against rdma-core's {@code ibv_rc_pingpong}: both
 * sides send messages of the same length in turn, the client first, of bytes 0x7b.
 */
@InSoftRoceGuest(nodes = 2)
class PingpongTest {
  private static final int ROUNDS = 100;
  private static final int LENGTH = 4096;
  private static final byte CONTENT = 0x7b;
  private static final long RECEIVED = 1;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @Test
  void asItsServer() throws Exception {
    try (Side side = Side.open(Nodes.server(), 2 * LENGTH);
        var tcp = new ServerSocket(0, 1, InetAddress.getByName(Nodes.node2()));
        QueuePair pair = create(side)) {
      int gid = BarePair.gidIndex(side, Nodes.node2());
      try (var pingpong = Program.start(pingpong("rxe0", tcp.getLocalPort(), Nodes.node2()));
          Socket socket = tcp.accept()) {
        PingpongAddress peer = PingpongAddress.readFrom(socket.getInputStream());
        connect(pair, peer, gid);
        address(side, pair, gid).writeTo(socket.getOutputStream());
        play(side, pair, 0);
        assertThat(pingpong.succeed(LIMIT)).contains(ROUNDS + " iters in");
      }
    }
  }

  @Test
  void asItsClient() throws Exception {
    int port = 18_600;
    String to = "disni://" + Nodes.node2() + ":" + port + "?source=" + Nodes.node1();
    try (Side side = Side.open(to, 2 * LENGTH);
        QueuePair pair = create(side);
        var pingpong = Program.start(pingpong("rxe1", port))) {
      int gid = BarePair.gidIndex(side, Nodes.node1());
      await()
          .atMost(LIMIT)
          .until(() -> Program.run("ss", "-Hltn", "sport = :" + port).contains("LISTEN"));
      try (Socket socket = new Socket(Nodes.node2(), port)) {
        address(side, pair, gid).writeTo(socket.getOutputStream());
        connect(pair, PingpongAddress.readFrom(socket.getInputStream()), gid);
        PingpongAddress.writeDone(socket.getOutputStream());
        // It answers to "done" with nothing, and is ready.
        play(side, pair, 1);
      }
      assertThat(pingpong.succeed(LIMIT)).contains(ROUNDS + " iters in");
    }
  }

  private static String[] pingpong(String device, int port, String... to) throws Exception {
    String line =
        "ibv_rc_pingpong -d %s -g %d -p %d -n %d -s %d %s"
            .formatted(device, 1, port, ROUNDS, LENGTH, String.join(" ", to));
    return line.strip().split(" ", -1);
  }

  private static QueuePair create(Side side) {
    QueuePair pair = BarePair.create(side, Set.of());
    side.receive(pair, RECEIVED, LENGTH, LENGTH);
    return pair;
  }

  private static PingpongAddress address(Side side, QueuePair pair, int gid) {
    return new PingpongAddress(pair.number(), BarePair.PSN, side.device().port().gids().get(gid));
  }

  private static void connect(QueuePair pair, PingpongAddress peer, int gid) {
    BarePair.connect(pair, peer.queuePair(), peer.psn(), peer.gid(), gid);
  }

  /** Both have sent and received all rounds, and all that came is as the other side fills it. */
  private static void play(Side side, QueuePair pair, int ahead) throws InterruptedException {
    byte[] expected = new byte[LENGTH];
    Arrays.fill(expected, CONTENT);
    side.memory().put(0, expected);
    int posted = 0;
    int sent = 0;
    int received = 0;
    while (sent < ROUNDS || received < ROUNDS) {
      if (posted < ROUNDS && posted < received + ahead && posted == sent) {
        side.post(pair, new SendWorkRequest().send().id(RECEIVED + 1), 0, LENGTH);
        posted++;
        continue;
      }
      WorkCompletion completion = side.success();
      if (completion.workRequestId() != RECEIVED) {
        sent++;
        continue;
      }
      assertThat(completion.byteLength()).isEqualTo(LENGTH);
      byte[] came = new byte[LENGTH];
      side.memory().get(LENGTH, came).put(LENGTH, new byte[LENGTH]);
      assertThat(came).isEqualTo(expected);
      received++;
      side.receive(pair, RECEIVED, LENGTH, LENGTH);
    }
  }
}
