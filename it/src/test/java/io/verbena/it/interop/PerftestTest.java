package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.Access;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The provider as server and as client of perftest's {@code ib_write_bw} and {@code ib_send_lat}.
 */
@InSoftRoceGuest(nodes = 2)
class PerftestTest {
  private static final int COUNT = 100;
  private static final int BLOCK = 65_536;
  private static final int GUARD = 4096;
  private static final int MESSAGE = 256;
  private static final int WRITE_PORT = 18_700;
  private static final int LATENCY_PORT = 18_701;
  private static final long RECEIVED = 1;
  private static final long SENT = 2;
  private static final Set<Access> WRITABLE = Set.of(Access.REMOTE_WRITE);
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private int sent;
  private int received;

  private static Program perftest(String name, String device, int port, int size, String... to)
      throws IOException {
    List<String> line = new ArrayList<>(List.of(name, "-F", "-d", device, "-x", "1"));
    line.addAll(List.of("-p", "" + port, "-s", "" + size, "-n", "" + COUNT));
    line.addAll(List.of(to));
    return Program.start(line);
  }

  private static Program client(String name, ServerSocket server, int size) throws IOException {
    return perftest(name, "rxe0", server.getLocalPort(), size, Nodes.node2());
  }

  private static ServerSocket listen() throws IOException {
    return new ServerSocket(0, 1, InetAddress.getByName(Nodes.node2()));
  }

  private static Socket connect(int port) throws IOException {
    await()
        .atMost(LIMIT)
        .until(() -> Program.run("ss", "-Hltn", "sport = :" + port).contains("LISTEN"));
    return new Socket(Nodes.node2(), port);
  }

  private static Side clientSide(int port, int bytes) {
    return Side.open(Nodes.fromNode1(Nodes.node2(), port).toString(), bytes);
  }

  /** Both ends are connected when it returns. */
  private static PerftestAddress introduce(
      PerftestExchange exchange, Side side, QueuePair pair, String from) throws IOException {
    int gid = BarePair.gidIndex(side, from);
    PerftestAddress peer = exchange.shakeHands(address(side, pair, gid));
    BarePair.connect(pair, peer.queuePair(), peer.psn(), peer.gid(), gid);
    exchange.barrier();
    exchange.barrier();
    return peer;
  }

  private static PerftestAddress address(Side side, QueuePair pair, int gid) {
    return new PerftestAddress(
        pair.number(),
        BarePair.PSN,
        side.region().rkey(),
        side.region().address(),
        side.device().port().gids().get(gid));
  }

  /** The line of the table that it prints. */
  private static void assertReported(String output, int size) {
    assertThat(output).containsPattern("(?m)^ *" + size + " +" + COUNT + " ");
  }

  @Test
  void takesTheWritesOfItsClient() throws Exception {
    try (Side side = Side.open(Nodes.server(), BLOCK + GUARD);
        ServerSocket tcp = listen();
        QueuePair pair = BarePair.create(side, WRITABLE);
        Program writer = client("ib_write_bw", tcp, BLOCK);
        Socket socket = tcp.accept()) {
      PerftestExchange exchange = PerftestExchange.server(socket);
      introduce(exchange, side, pair, Nodes.node2());
      // It writes, and is here when all is written.
      exchange.barrier();
      PerftestReport report = exchange.report(new PerftestReport(0, 0, 0, 0, 0));
      exchange.end();

      assertReported(writer.succeed(LIMIT), BLOCK);
      assertThat(report.size()).isEqualTo(BLOCK);
      assertThat(report.count()).isEqualTo(COUNT);
      assertThat(report.average()).isPositive();
      byte[] block = new byte[BLOCK];
      byte[] guard = new byte[GUARD];
      side.memory().get(0, block).get(BLOCK, guard);
      // It writes bytes by rand(3): one in 256 is zero, as all were before.
      assertThat(block).satisfies(PerftestTest::isNoise);
      assertThat(guard).containsOnly(0);
    }
  }

  private static void isNoise(byte[] block) {
    int zeros = 0;
    for (byte b : block) {
      zeros += b == 0 ? 1 : 0;
    }
    assertThat(zeros).as("zeros of %d bytes", block.length).isLessThan(block.length / 64);
  }

  @Test
  void writesToItsServer() throws Exception {
    try (Program server = perftest("ib_write_bw", "rxe1", WRITE_PORT, BLOCK);
        Side side = clientSide(WRITE_PORT, BLOCK);
        QueuePair pair = BarePair.create(side, WRITABLE);
        Socket socket = connect(WRITE_PORT)) {
      PerftestExchange exchange = PerftestExchange.client(socket);
      PerftestAddress peer = introduce(exchange, side, pair, Nodes.node1());
      byte[] noise = new byte[BLOCK];
      new Random(COUNT).nextBytes(noise);
      side.memory().put(0, noise);
      for (int i = 0; i < COUNT; i++) {
        SendWorkRequest write = new SendWorkRequest().write(peer.memory(), peer.rkey());
        side.post(pair, write, 0, BLOCK);
        assertThat(side.success().queuePairNumber()).isEqualTo(pair.number());
      }
      exchange.barrier();
      exchange.report(new PerftestReport(BLOCK, COUNT, 12.5, 6.25, 0.5));
      exchange.end();

      assertReported(server.succeed(LIMIT), BLOCK);
    }
  }

  @Test
  void answersItsClient() throws Exception {
    try (Side side = Side.open(Nodes.server(), 2 * MESSAGE);
        ServerSocket tcp = listen();
        QueuePair pair = BarePair.create(side, Set.of());
        Program client = client("ib_send_lat", tcp, MESSAGE);
        Socket socket = tcp.accept()) {
      side.receive(pair, RECEIVED, MESSAGE, MESSAGE);
      PerftestExchange exchange = PerftestExchange.server(socket);
      introduce(exchange, side, pair, Nodes.node2());
      // Receives are posted at both ends.
      exchange.barrier();
      for (int i = 0; i < COUNT; i++) {
        receive(side, pair);
        send(side, pair);
      }
      exchange.end();

      assertReported(client.succeed(LIMIT), MESSAGE);
    }
  }

  @Test
  void isAnsweredByItsServer() throws Exception {
    try (Program server = perftest("ib_send_lat", "rxe1", LATENCY_PORT, MESSAGE);
        Side side = clientSide(LATENCY_PORT, 2 * MESSAGE);
        QueuePair pair = BarePair.create(side, Set.of());
        Socket socket = connect(LATENCY_PORT)) {
      side.receive(pair, RECEIVED, MESSAGE, MESSAGE);
      PerftestExchange exchange = PerftestExchange.client(socket);
      introduce(exchange, side, pair, Nodes.node1());
      exchange.barrier();
      for (int i = 0; i < COUNT; i++) {
        send(side, pair);
        receive(side, pair);
      }
      exchange.end();

      assertReported(server.succeed(LIMIT), MESSAGE);
    }
  }

  private void send(Side side, QueuePair pair) throws InterruptedException {
    side.post(pair, new SendWorkRequest().send().id(SENT), 0, MESSAGE);
    int before = sent;
    while (sent == before) {
      takeCompletion(side);
    }
  }

  /** Waits for the peer's next message, and is ready for the one after it. */
  private void receive(Side side, QueuePair pair) throws InterruptedException {
    while (received == 0) {
      takeCompletion(side);
    }
    received--;
    side.receive(pair, RECEIVED, MESSAGE, MESSAGE);
  }

  /** The peer's next message may be told of before the acknowledgement that came ahead of it. */
  private void takeCompletion(Side side) throws InterruptedException {
    WorkCompletion completion = side.success();
    if (completion.workRequestId() == SENT) {
      sent++;
    } else {
      assertThat(completion.byteLength()).isEqualTo(MESSAGE);
      received++;
    }
  }
}
