// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DatagramPeer;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs on two HCAs find each other's queue pairs for datagrams. */
@Tag("once")
class RoceDatagramsTest {
  private static final String HERE = "roce://" + Loopbacks.address(9);
  private static final URI SERVICE = URI.create("roce://" + Loopbacks.address(10) + ":7000");
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final int SIZE = 100;

  private Caller passive = new Caller(SERVICE);
  private Caller active = new Caller(URI.create(HERE));

  @AfterEach
  void close() {
    active.close();
    passive.close();
  }

  private static ByteBuffer text(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static String text(ByteBuffer data, int length) {
    byte[] bytes = new byte[length];
    data.get(data.position(), bytes);
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  private ConnectionIdentifier resolve(URI address) throws InterruptedException {
    return resolve(active, address);
  }

  private static ConnectionIdentifier resolve(Caller caller, URI address)
      throws InterruptedException {
    ConnectionIdentifier from =
        caller.manager.resolve(PortSpace.UDP, address, Caller.LIMIT.toNanos());
    caller.expect(ConnectionEvent.Type.ADDR_RESOLVED);
    return from;
  }

  private ConnectionIdentifier ask(Duration patience) throws InterruptedException {
    ConnectionIdentifier from = resolve(SERVICE);
    active.datagrams(from);
    from.connect(ConnectionParameters.of(text("who?")), patience.toNanos());
    return from;
  }

  private ConnectionListener listen(int backlog) {
    return passive.manager.listen(PortSpace.UDP, SERVICE, backlog);
  }

  private static void send(Caller from, QueuePair pair, DatagramPeer to, int immediate) {
    try (AddressHandle handle = from.domain().createAddressHandle(to.vector())) {
      send(from, pair, handle, to.queuePair(), immediate);
    }
  }

  private static void send(Caller from, QueuePair pair, AddressHandle way, int to, int immediate) {
    pair.postSend(
        new SendWorkRequest()
            .sendWithImmediate(immediate)
            .to(way, to, DatagramPeer.QUEUE_KEY)
            .buffer(from.region.address(), SIZE, from.region.lkey())
            .signaled());
    assertThat(from.next().isSuccess()).isTrue();
  }

  private static void receive(Caller at, QueuePair pair) {
    pair.postReceive(
        new ReceiveWorkRequest()
            .buffer(at.region.address() + SIZE, GlobalRoute.LENGTH + SIZE, at.region.lkey()));
  }

  private static ByteBuffer route(Caller at) {
    return at.bytes.slice(SIZE, GlobalRoute.LENGTH);
  }

  @Test
  void tellsWhereDatagramsGoAndTakesThem() throws Exception {
    try (ConnectionListener listener = listen(1)) {
      assertThat(listener.address()).isEqualTo(SERVICE);
      ConnectionIdentifier from = ask(Caller.LIMIT);
      ConnectionEvent request = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST);
      assertThat(request.listener()).isSameAs(listener);
      assertThat(request.privateData().remaining())
          .isEqualTo(ConnectionParameters.MAX_DATAGRAM_CONNECT_DATA);
      assertThat(text(request.privateData(), 4)).isEqualTo("who?");
      ConnectionIdentifier to = request.identifier();
      assertThat(to.peer()).startsWith(HERE + ":");
      QueuePair serving = passive.datagrams(to);
      receive(passive, serving);
      to.accept(ConnectionParameters.of(text("me")));

      ConnectionEvent event = active.expect(ConnectionEvent.Type.ESTABLISHED);
      assertThat(event.identifier()).isSameAs(from);
      assertThat(text(event.privateData(), 2)).isEqualTo("me");
      assertThat(event.privateData().remaining())
          .isEqualTo(ConnectionParameters.MAX_DATAGRAM_ACCEPT_DATA);
      DatagramPeer peer = event.datagramPeer();
      assertThat(peer).isNotNull();
      assertThat(peer.queuePair()).isEqualTo(serving.number());
      assertThat(peer.queueKey()).isEqualTo(DatagramPeer.QUEUE_KEY);
      QueuePair asking = from.queuePair();
      assertThat(asking).isNotNull();
      receive(active, asking);
      active.bytes.put(0, text("a datagram"), 0, 10);
      send(active, asking, peer, asking.number());

      WorkCompletion came = passive.next();
      assertThat(came.byteLength()).isEqualTo(GlobalRoute.LENGTH + SIZE);
      assertThat(came.sourceQueuePair()).isEqualTo(came.immediate()).isEqualTo(asking.number());
      assertThat(text(passive.bytes.slice(SIZE + GlobalRoute.LENGTH, 10), 10))
          .isEqualTo("a datagram");
      DatagramPeer back =
          new DatagramPeer(
              GlobalRoute.back(route(passive), passive.device.port().gids()),
              came.sourceQueuePair(),
              DatagramPeer.QUEUE_KEY);
      send(passive, serving, back, 0);
      assertThat(active.next().sourceQueuePair()).isEqualTo(serving.number());

      from.disconnect();
      assertThat(passive.manager.await(0)).as("an event of the passive end").isNull();
      assertThat(active.manager.await(0)).as("an event of the active end").isNull();
    }
  }

  @Test
  void tellsWhoIsOnAnotherUdpPort() throws Exception {
    active.close();
    active = new Caller(URI.create(HERE + "?udp-port=0"));
    try (ConnectionListener listener = listen(1)) {
      assertThat(listener.address()).isEqualTo(SERVICE);
      ask(Caller.LIMIT);
      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      QueuePair serving = passive.datagrams(to);
      to.accept(ConnectionParameters.defaults());

      DatagramPeer peer = active.expect(ConnectionEvent.Type.ESTABLISHED).datagramPeer();

      assertThat(peer).isNotNull();
      assertThat(peer.queuePair()).isEqualTo(serving.number());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "&sanitize=true"})
  void answersFromAnotherUdpPort(String option) throws Exception {
    passive.close();
    passive = new Caller(URI.create("roce://" + Loopbacks.address(10) + "?udp-port=0" + option));
    QueuePair asking = active.datagrams(resolve(SERVICE));
    QueuePair serving = passive.datagrams(resolve(passive, URI.create(HERE + ":7000")));
    receive(active, asking);
    receive(passive, serving);
    AddressVector there = AddressVector.to(passive.device.port().gids().get(0));
    send(
        active,
        asking,
        new DatagramPeer(there, serving.number(), DatagramPeer.QUEUE_KEY),
        asking.number());

    WorkCompletion came = passive.next();
    try (AddressHandle back = passive.domain().createAddressHandle(came, route(passive))) {
      send(passive, serving, back, came.sourceQueuePair(), 0);
    }

    assertThat(active.next().sourceQueuePair()).isEqualTo(serving.number());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void isUnreachableWhoRejects(boolean byClosing) throws Exception {
    try (ConnectionListener listener = listen(1)) {
      assertThat(listener.address()).isEqualTo(SERVICE);
      ask(Caller.LIMIT);
      try (ConnectionIdentifier to =
          passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier()) {
        if (!byClosing) {
          to.reject(text("no"));
        }
      }

      ConnectionEvent event = active.expect(ConnectionEvent.Type.UNREACHABLE);
      assertThat(event.status()).isEqualTo(ConnectionEvent.DATAGRAMS_REJECTED);
      assertThat(event.datagramPeer()).isNull();
      assertThat(text(event.privateData(), 2)).isEqualTo(byClosing ? "\0\0" : "no");
    }
  }

  @Test
  void rejectsWhatNobodyTookFromAListenerThatIsClosed() throws Exception {
    ConnectionListener listener = listen(1);
    try (ConnectionListener other = passive.manager.listen(SERVICE, 1)) {
      assertThat(other.address()).as("the same port of another space").isEqualTo(SERVICE);
      ConnectionIdentifier first = ask(Caller.LIMIT);
      await().atMost(Caller.LIMIT).until(() -> passiveKnows() == 1);
      // This request finds the backlog full.
      ask(Caller.LIMIT);

      listener.close();

      for (int i = 0; i < 2; i++) {
        ConnectionEvent event = active.expect(ConnectionEvent.Type.UNREACHABLE);
        assertThat(event.status())
            .isEqualTo(
                event.identifier() == first
                    ? ConnectionEvent.DATAGRAMS_REJECTED
                    : ConnectionEvent.DATAGRAMS_UNSUPPORTED);
      }
    }
  }

  private int passiveKnows() {
    RoceConnectionManager manager = (RoceConnectionManager) passive.manager;
    HostFabric fabric = manager.fabric();
    fabric.enter();
    try {
      return manager.agent().services().known();
    } finally {
      fabric.leave();
    }
  }

  @Test
  void isUnreachableWhereNobodyListens() throws Exception {
    try (ConnectionListener listener = passive.manager.listen(SERVICE, 1)) {
      assertThat(listener.address()).as("the same port of another space").isEqualTo(SERVICE);

      ask(Caller.LIMIT);

      assertThat(active.expect(ConnectionEvent.Type.UNREACHABLE).status())
          .isEqualTo(ConnectionEvent.DATAGRAMS_UNSUPPORTED);
    }
  }

  @Test
  void givesUpWhenNobodyAnswers() throws Exception {
    try (ConnectionListener listener = listen(1)) {
      assertThat(listener.address()).isEqualTo(SERVICE);
      ask(SHORT);

      assertThat(active.expect(ConnectionEvent.Type.UNREACHABLE).status())
          .isEqualTo(ConnectionEvent.TIMED_OUT);
    }
  }

  @Test
  void hasOneQueuePairOfDatagramsThatIsReady() throws Exception {
    ConnectionIdentifier from = resolve(SERVICE);
    assertInvalid(() -> from.connect(ConnectionParameters.defaults(), 1), "no queue pair");
    assertInvalid(() -> active.queuePair(from), "type: RC (expected: UD)");
    QueuePair pair = active.datagrams(from);
    assertThat(pair.state()).isEqualTo(QueuePairState.RTS);
    assertThat(pair.query().queueKey()).isEqualTo(DatagramPeer.QUEUE_KEY);
    assertThat(pair.type()).isEqualTo(QueuePairType.UD);
    assertInvalid(() -> active.datagrams(from), "it has one");
    ByteBuffer tooMuch = ByteBuffer.allocate(ConnectionParameters.MAX_DATAGRAM_CONNECT_DATA + 1);
    assertInvalid(
        () -> from.connect(ConnectionParameters.of(tooMuch), 1), "181 bytes (expected: <= 180)");
    assertInvalid(
        () -> from.accept(ConnectionParameters.defaults()), "RESOLVED (expected: REQUESTED)");
    assertInvalid(() -> from.reject(ByteBuffer.allocate(137)), "137 bytes (expected: <= 136)");
  }

  private static void assertInvalid(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
        .hasMessageContaining(message);
  }
}
