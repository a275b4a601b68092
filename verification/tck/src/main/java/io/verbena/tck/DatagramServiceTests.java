// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Capability.UNRELIABLE_DATAGRAM;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.ConnectionEvent.Type.ESTABLISHED;
import static io.verbena.verbs.ConnectionEvent.Type.REJECTED;
import static io.verbena.verbs.ConnectionEvent.Type.UNREACHABLE;
import static io.verbena.verbs.ConnectionParameters.MAX_DATAGRAM_ACCEPT_DATA;
import static io.verbena.verbs.ConnectionParameters.MAX_DATAGRAM_CONNECT_DATA;
import static io.verbena.verbs.QueuePairType.RC;
import static io.verbena.verbs.QueuePairType.UD;
import static io.verbena.verbs.VerbsError.ADDRESS_IN_USE;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DatagramPeer;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Service resolution for datagrams (SIDR): a requester learns the queue pair that serves a port,
 * without a connection.
 */
abstract class DatagramServiceTests extends VerbsTests {
  private static final int HEADER = GlobalRoute.LENGTH;

  @RegisterExtension
  final RequiresSupport datagrams =
      RequiresSupport.of(this, UNRELIABLE_DATAGRAM, this::refusesToListenAndToAsk);

  DatagramServiceTests(VerbsTck provider) {
    super(provider);
  }

  /**
   * The requesting and the serving side. Tests create it, because a device without datagrams can
   * create neither.
   */
  private final class Ends {
    final ConnectionManagerFixture caller = new ConnectionManagerFixture(tck, tck.device());
    final ConnectionManagerFixture callee = new ConnectionManagerFixture(tck, tck.serverDevice());

    ConnectionListener listen(int backlog) {
      return callee.listen(PortSpace.UDP, backlog);
    }

    ConnectionIdentifier resolve(URI address) {
      return caller.resolve(PortSpace.UDP, address);
    }

    Endpoint client(ConnectionIdentifier active) {
      return tck.setup().type(UD).client(caller, active);
    }

    Endpoint server(ConnectionIdentifier passive) {
      return tck.setup().type(UD).server(callee, passive);
    }

    /** Creates an identifier that has sent a request. */
    ConnectionIdentifier asking(ConnectionListener listener) {
      return asking(listener.address());
    }

    ConnectionIdentifier asking(URI address) {
      ConnectionIdentifier active = resolve(address);
      client(active);
      connect(active);
      return active;
    }

    void connect(ConnectionIdentifier active) {
      active.connect(ConnectionParameters.defaults(), tck.timeout().toNanos());
    }

    /** Accepts a request with a queue pair. */
    Endpoint serve() {
      ConnectionIdentifier passive = callee.expectRequest().identifier();
      Endpoint server = server(passive);
      passive.accept(ConnectionParameters.defaults());
      return server;
    }

    /** Waits for the reply to a request. */
    DatagramPeer awaitReply(ConnectionIdentifier active) {
      return peerIn(caller.expect(ESTABLISHED, active));
    }

    void expectUnreachable(ConnectionIdentifier active, int status) {
      ConnectionEvent event = caller.expect(UNREACHABLE, active);
      assertThat(event.status()).as("status of %s", event).isEqualTo(status);
      assertThat(event.datagramPeer()).isNull();
    }
  }

  private static DatagramPeer peerIn(ConnectionEvent event) {
    return Objects.requireNonNull(event.datagramPeer(), "the peer in " + event);
  }

  @Test
  void tellsWhoAsksTheQueuePairThatServes() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.asking(ends.listen(1));

    Endpoint server = ends.serve();

    ConnectionEvent established = ends.caller.expect(ESTABLISHED, active);
    DatagramPeer peer = peerIn(established);
    assertThat(established.status()).isZero();
    assertThat(established.listener()).isNull();
    assertThat(peer.queuePair()).isEqualTo(server.queuePair().number());
    assertThat(peer.queueKey()).isEqualTo(DatagramPeer.QUEUE_KEY);
    assertThat(peer.vector().destination()).isIn(server.device().port().gids());
    ends.callee.expectNothingMore();
    ends.caller.expectNothingMore();
  }

  @Test
  void tellsTheRequestAndWhereItCame() {
    Ends ends = new Ends();
    ConnectionListener listener = ends.listen(1);
    ConnectionIdentifier active = ends.asking(listener);

    ConnectionEvent request = ends.callee.expectRequest();

    assertThat(request.listener()).isSameAs(listener);
    assertThat(request.status()).isZero();
    assertThat(request.datagramPeer()).isNull();
    assertThat(request.identifier()).isNotSameAs(active);
    assertThat(request.identifier().manager()).isSameAs(ends.callee.manager());
    assertThat(request.identifier().queuePair()).isNull();
    assertThat(request.identifier().peer()).isNotBlank();
    assertThat(request.privateData().isReadOnly()).isTrue();
  }

  @Test
  void makesQueuePairsThatSendFromTheBeginning() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());
    Endpoint client = ends.client(active);
    ends.connect(active);
    ConnectionIdentifier passive = ends.callee.expectRequest().identifier();
    Endpoint server = ends.server(passive);

    for (QueuePair pair : List.of(client.queuePair(), server.queuePair())) {
      assertThat(pair.type()).isEqualTo(UD);
      assertThat(pair.state()).isEqualTo(QueuePairState.RTS);
      assertThat(pair.query().queueKey()).isEqualTo(DatagramPeer.QUEUE_KEY);
    }
    assertThat(active.queuePair()).isSameAs(client.queuePair());
    assertThat(passive.queuePair()).isSameAs(server.queuePair());
  }

  @Test
  void leadsDatagramsToTheService() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());
    Endpoint client = ends.client(active);
    ends.connect(active);
    Endpoint server = ends.serve();

    assertReaches(client, server, ends.awaitReply(active));
  }

  @Test
  void leadsAnswersBackToWhoAsked() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());
    Endpoint client = ends.client(active);
    ends.connect(active);
    Endpoint server = ends.serve();
    TestMemory question = server.memory(HEADER + 8, LOCAL_WRITE);
    TestMemory answer = client.memory(HEADER + 8, LOCAL_WRITE);
    server.post(Requests.receive(1, question));
    client.post(Requests.receive(2, answer));
    send(client, ends.awaitReply(active), 20);
    WorkCompletion received = server.received().expectSuccess(1, RECV);

    AddressHandle back = tck.own(server.domain().createAddressHandle(received, question.copy()));
    server.post(
        Requests.send(4, server.memory(8).putLong(0, 1 + question.getLong(HEADER)))
            .to(back, received.sourceQueuePair(), DatagramPeer.QUEUE_KEY)
            .signaled());

    server.sent().expectSuccess(4, SEND);
    client.received().expectSuccess(2, RECV);
    assertThat(answer.getLong(HEADER)).isEqualTo(21);
  }

  @Test
  void goesOnAfterADisconnectOfEitherEnd() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());
    Endpoint client = ends.client(active);
    ends.connect(active);
    ConnectionIdentifier passive = ends.callee.expectRequest().identifier();
    Endpoint server = ends.server(passive);
    passive.accept(ConnectionParameters.defaults());
    DatagramPeer peer = ends.awaitReply(active);

    active.disconnect();
    passive.disconnect();

    assertReaches(client, server, peer);
    ends.caller.expectNothingMore();
    ends.callee.expectNothingMore();
  }

  @Test
  void tellsNobodyThatAnEndIsClosed() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.asking(ends.listen(1));
    ConnectionIdentifier passive = ends.callee.expectRequest().identifier();
    Endpoint server = ends.server(passive);
    passive.accept(ConnectionParameters.defaults());
    ends.awaitReply(active);

    server.queuePair().close();
    passive.close();

    ends.caller.expectNothingMore();
    ends.callee.expectNothingMore();
  }

  @Test
  void carriesPrivateDataBothWaysUpToTheMost() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());
    ends.client(active);

    active.connect(
        ConnectionParameters.of(PrivateData.of(MAX_DATAGRAM_CONNECT_DATA, 1)),
        tck.timeout().toNanos());
    ConnectionEvent request = ends.callee.expectRequest();
    ends.server(request.identifier());
    request
        .identifier()
        .accept(ConnectionParameters.of(PrivateData.of(MAX_DATAGRAM_ACCEPT_DATA, 2)));

    PrivateData.assertBegins(request.privateData(), MAX_DATAGRAM_CONNECT_DATA, 1);
    PrivateData.assertBegins(
        ends.caller.expect(ESTABLISHED, active).privateData(), MAX_DATAGRAM_ACCEPT_DATA, 2);
  }

  @Test
  void refusesMorePrivateDataThanItsMessagesCarry() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());
    ends.client(active);
    ConnectionParameters tooMuchAsked =
        ConnectionParameters.of(PrivateData.of(MAX_DATAGRAM_CONNECT_DATA + 1, 1));
    ConnectionParameters tooMuchAnswered =
        ConnectionParameters.of(PrivateData.of(MAX_DATAGRAM_ACCEPT_DATA + 1, 1));

    expectTooMuch(
        MAX_DATAGRAM_CONNECT_DATA, () -> active.connect(tooMuchAsked, tck.timeout().toNanos()));
    ends.connect(active);
    ConnectionIdentifier passive = ends.callee.expectRequest().identifier();
    ends.server(passive);
    expectTooMuch(MAX_DATAGRAM_ACCEPT_DATA, () -> passive.accept(tooMuchAnswered));
    expectTooMuch(MAX_DATAGRAM_ACCEPT_DATA, () -> passive.reject(tooMuchAnswered.privateData()));

    passive.accept(ConnectionParameters.defaults());
    ends.awaitReply(active);
  }

  @Test
  void isUnreachableWhenNobodyServes() {
    Ends ends = new Ends();
    ConnectionListener listener = ends.listen(1);
    listener.close();

    ends.expectUnreachable(
        ends.asking(tck.address("nobody")), ConnectionEvent.DATAGRAMS_UNSUPPORTED);
    ends.expectUnreachable(ends.asking(listener), ConnectionEvent.DATAGRAMS_UNSUPPORTED);
  }

  @Test
  void isUnreachableWhenItIsRefusedAndToldWhy() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.asking(ends.listen(1));

    ends.callee.expectRequest().identifier().reject(PrivateData.of(MAX_DATAGRAM_ACCEPT_DATA, 4));

    ConnectionEvent refused = ends.caller.expect(UNREACHABLE, active);
    assertThat(refused.status()).isEqualTo(ConnectionEvent.DATAGRAMS_REJECTED);
    PrivateData.assertBegins(refused.privateData(), MAX_DATAGRAM_ACCEPT_DATA, 4);
    ends.callee.expectNothingMore();
  }

  @Test
  void isRefusedWhenTheRequestIsClosed() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.asking(ends.listen(1));

    ends.callee.expectRequest().identifier().close();

    ends.expectUnreachable(active, ConnectionEvent.DATAGRAMS_REJECTED);
  }

  @Test
  void isUnreachableWhenTheListenerClosesBeforeAnybodyTookTheRequest() {
    Ends ends = new Ends();
    ConnectionListener listener = ends.listen(1);
    ConnectionIdentifier active = ends.asking(listener);

    listener.close();

    // The request may arrive after the listener was closed.
    assertThat(ends.caller.expect(UNREACHABLE, active).status())
        .isIn(ConnectionEvent.DATAGRAMS_REJECTED, ConnectionEvent.DATAGRAMS_UNSUPPORTED);
  }

  @Test
  void isUnreachableWhenNobodyAnswersInTime() {
    Ends ends = new Ends();
    Duration time = Duration.ofMillis(100);
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());
    ends.client(active);
    long start = System.nanoTime();

    active.connect(ConnectionParameters.defaults(), time.toNanos());

    ends.expectUnreachable(active, ConnectionEvent.TIMED_OUT);
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(time.toNanos());
  }

  @Test
  void mayBeAnsweredWhenNobodyWaitsForItAnyMore() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());
    ends.client(active);
    active.connect(ConnectionParameters.defaults(), Duration.ofMillis(10).toNanos());
    ends.expectUnreachable(active, ConnectionEvent.TIMED_OUT);

    ends.serve();

    ends.callee.expectNothingMore();
    ends.caller.expectNothingMore();
  }

  @Test
  void leavesARequestWithoutAnAnswerThatDoesNotFitTheBacklog() {
    Ends ends = new Ends();
    ConnectionListener listener = ends.listen(1);
    ConnectionIdentifier first = ends.asking(listener);
    ConnectionIdentifier unanswered = ends.resolve(listener.address());
    ends.client(unanswered);

    // Long enough to learn that a device rejects it, also where CPUs are busy.
    unanswered.connect(ConnectionParameters.defaults(), Duration.ofSeconds(3).toNanos());

    ends.expectUnreachable(unanswered, ConnectionEvent.TIMED_OUT);
    ends.serve();
    ends.awaitReply(first);
    ends.callee.expectNothingMore();
  }

  @Test
  void hasRoomInTheBacklogAgainOnceRequestsAreTaken() {
    Ends ends = new Ends();
    ConnectionListener listener = ends.listen(1);

    for (int i = 0; i < 4; i++) {
      ConnectionIdentifier active = ends.asking(listener);
      Endpoint server = ends.serve();
      assertThat(ends.awaitReply(active).queuePair()).isEqualTo(server.queuePair().number());
    }
  }

  @Test
  void hasPortsThatAreNotThoseOfConnections() {
    Ends ends = new Ends();
    URI address = tck.address("listen");
    ConnectionListener ofDatagrams =
        tck.own(ends.callee.manager().listen(PortSpace.UDP, address, 1));
    expectFailure(
        ADDRESS_IN_USE, () -> tck.own(ends.callee.manager().listen(PortSpace.UDP, address, 1)));

    ConnectionIdentifier unheard = ends.caller.resolve(address);
    tck.setup().client(ends.caller, unheard);
    ends.connect(unheard);
    assertThat(ends.caller.expect(REJECTED, unheard).status())
        .isEqualTo(ConnectionEvent.REJECT_INVALID_SERVICE_ID);
    ConnectionListener ofConnections = tck.own(ends.callee.manager().listen(address, 1));
    tck.setup().connect(ends.caller, ends.callee, ofConnections);
    ConnectionIdentifier active = ends.asking(address);
    Endpoint server = ends.serve();
    assertThat(ends.awaitReply(active).queuePair()).isEqualTo(server.queuePair().number());

    ofDatagrams.close();
    ends.expectUnreachable(ends.asking(address), ConnectionEvent.DATAGRAMS_UNSUPPORTED);
  }

  @Test
  void refusesAQueuePairOfAnotherType() {
    Ends ends = new Ends();
    ConnectionIdentifier ofDatagrams = ends.resolve(ends.listen(1).address());
    ConnectionIdentifier ofConnections = ends.caller.resolve(ends.callee.listen(1).address());

    expectRefused(ends, ofDatagrams, RC);
    expectRefused(ends, ofConnections, UD);

    assertThat(ofDatagrams.queuePair()).isNull();
    assertThat(ofConnections.queuePair()).isNull();
  }

  private void expectRefused(Ends ends, ConnectionIdentifier identifier, QueuePairType type) {
    expectFailure(INVALID, () -> tck.setup().type(type).client(ends.caller, identifier));
  }

  @Test
  void asksAndAnswersOnceAndWithAQueuePair() {
    Ends ends = new Ends();
    ConnectionIdentifier active = ends.resolve(ends.listen(1).address());

    expectFailure(INVALID, () -> ends.connect(active));
    Endpoint client = ends.client(active);
    expectFailure(INVALID, () -> ends.client(active));
    ends.connect(active);
    expectFailure(INVALID, () -> ends.connect(active));
    expectFailure(INVALID, () -> active.accept(ConnectionParameters.defaults()));
    expectFailure(INVALID, () -> active.reject(PrivateData.none()));
    ConnectionIdentifier passive = ends.callee.expectRequest().identifier();
    expectFailure(INVALID, () -> passive.accept(ConnectionParameters.defaults()));
    Endpoint server = ends.server(passive);
    passive.accept(ConnectionParameters.defaults());
    expectFailure(INVALID, () -> passive.accept(ConnectionParameters.defaults()));
    expectFailure(INVALID, () -> passive.reject(PrivateData.none()));

    assertReaches(client, server, ends.awaitReply(active));
    expectFailure(INVALID, () -> ends.connect(active));
  }

  private void assertReaches(Endpoint client, Endpoint server, DatagramPeer peer) {
    TestMemory into = server.memory(HEADER + 8, LOCAL_WRITE);
    server.post(Requests.receive(1, into));

    send(client, peer, 4711);

    WorkCompletion received = server.received().expectSuccess(1, RECV);
    assertThat(received.sourceQueuePair()).isEqualTo(client.queuePair().number());
    assertThat(into.getLong(HEADER)).isEqualTo(4711);
  }

  private void send(Endpoint client, DatagramPeer peer, long value) {
    AddressHandle there = tck.own(client.domain().createAddressHandle(peer.vector()));
    client.post(
        Requests.send(3, client.memory(8).putLong(0, value))
            .to(there, peer.queuePair(), peer.queueKey())
            .signaled());
    client.sent().expectSuccess(3, SEND);
  }

  private static void expectTooMuch(int most, ThrowingCallable verb) {
    assertThat(expectFailure(INVALID, verb))
        .hasMessageContaining(Integer.toString(most))
        .hasMessageContaining(Integer.toString(most + 1));
  }

  private void refusesToListenAndToAsk() {
    ConnectionManager manager = tck.own(tck.device().createConnectionManager());
    long patience = tck.timeout().toNanos();

    expectFailure(
        NOT_SUPPORTED, () -> tck.own(manager.listen(PortSpace.UDP, tck.address("listen"), 1)));
    expectFailure(
        NOT_SUPPORTED,
        () -> tck.own(manager.resolve(PortSpace.UDP, tck.address("nobody"), patience)));
  }
}
