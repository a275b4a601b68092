package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The provider as server and as client of rdma-core's {@code rping}. */
@InSoftRoceGuest(nodes = 2)
class RpingTest {
  private static final int PINGS = 30;
  private static final int MOST = 65_000;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @ParameterizedTest
  @ValueSource(ints = {64, MOST})
  void servesIt(int size) throws Exception {
    try (Side side = Side.open(Nodes.server(), RpingProtocol.DATA + MOST);
        ConnectionListener listener = side.listen();
        var rping = Program.start(client(listener.address(), size))) {
      ConnectionIdentifier identifier = side.request();
      var protocol = new RpingProtocol(side, Side.pairOf(identifier));
      identifier.accept(ConnectionParameters.defaults());
      side.expect(ConnectionEvent.Type.ESTABLISHED);
      for (int ping = 0; ping < PINGS; ping++) {
        ByteBuffer source = message(protocol);
        protocol.move(
            new SendWorkRequest().read(source.getLong(), source.getInt()), source.getInt());
        assertThat(text(side, size)).startsWith("rdma-ping-" + ping + ": ").endsWith("\0");
        protocol.goOn();
        ByteBuffer sink = message(protocol);
        protocol.move(new SendWorkRequest().write(sink.getLong(), sink.getInt()), sink.getInt());
        protocol.goOn();
      }
      side.expect(ConnectionEvent.Type.DISCONNECTED);
      assertThat(protocol.awaitMessage()).as("message after the last ping").isNull();
      Side.close(identifier);
      // It compares what it sent with what came back, and fails if they differ.
      assertThat(rping.succeed(LIMIT)).contains("ping data: rdma-ping-" + (PINGS - 1) + ":");
    }
  }

  private static String[] client(URI address, int size) {
    String line =
        "rping -c -v -V -a %s -p %d -I %s -C %d -S %d"
            .formatted(address.getHost(), address.getPort(), Nodes.node1(), PINGS, size);
    return line.split(" ", -1);
  }

  private static ByteBuffer message(RpingProtocol protocol) throws InterruptedException {
    ByteBuffer message = protocol.awaitMessage();
    assertThat(message).as("message of rping").isNotNull();
    return Objects.requireNonNull(message);
  }

  private static String text(Side side, int length) {
    byte[] bytes = new byte[length];
    side.memory().get(RpingProtocol.DATA, bytes);
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, MOST})
  void isServedByIt(int size) throws Exception {
    int port = 7200 + size % 2;
    int sink = RpingProtocol.DATA + size;
    try (var rping =
        Program.start(
            "rping -s -v -a %s -p %d -C %d -S %d"
                .formatted(Nodes.node2(), port, PINGS, size)
                .split(" ", -1))) {
      await()
          .atMost(LIMIT)
          .until(() -> Program.run("rdma", "resource", "show", "cm_id").contains(":" + port));
      URI to = Nodes.fromNode1(Nodes.node2(), port);
      try (Side side = Side.open(to.toString(), sink + size)) {
        ConnectionIdentifier identifier = side.resolve(to);
        var protocol = new RpingProtocol(side, Side.pairOf(identifier));
        identifier.connect(ConnectionParameters.defaults(), LIMIT.toNanos());
        side.expect(ConnectionEvent.Type.ESTABLISHED);
        for (int ping = 0; ping < PINGS; ping++) {
          byte[] data = data(ping, size);
          side.memory().put(RpingProtocol.DATA, data);
          protocol.advertise(RpingProtocol.DATA, size);
          message(protocol);
          protocol.advertise(sink, size);
          message(protocol);
          byte[] back = new byte[size];
          side.memory().get(sink, back);
          assertThat(back).as("ping %d", ping).isEqualTo(data);
        }
        identifier.disconnect();
        side.expect(ConnectionEvent.Type.DISCONNECTED);
        Side.close(identifier);
      }
      assertThat(rping.succeed(LIMIT))
          .contains("server ping data: rdma-ping-" + (PINGS - 1) + ": ");
    }
  }

  /** Text without zeros but the last: rping sends back what {@code strlen} finds. */
  private static byte[] data(int ping, int size) {
    byte[] data = new byte[size];
    Arrays.fill(data, (byte) ('a' + ping % 26));
    byte[] head = ("rdma-ping-" + ping + ": ").getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(head, 0, data, 0, head.length);
    data[size - 1] = 0;
    return data;
  }
}
