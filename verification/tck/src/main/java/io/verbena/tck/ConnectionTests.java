// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.CompletionOpcode.RDMA_READ;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.ConnectionEvent.Type.CONNECT_ERROR;
import static io.verbena.verbs.ConnectionEvent.Type.CONNECT_REQUEST;
import static io.verbena.verbs.ConnectionEvent.Type.ESTABLISHED;
import static io.verbena.verbs.ConnectionEvent.Type.REJECTED;
import static io.verbena.verbs.ConnectionEvent.Type.UNREACHABLE;
import static io.verbena.verbs.VerbsError.INVALID;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePairState;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Connecting, accepting and rejecting, and what can interrupt them. */
abstract class ConnectionTests extends VerbsTests {
  private final ConnectionManagerFixture caller = new ConnectionManagerFixture(tck, tck.device());
  private final ConnectionManagerFixture callee =
      new ConnectionManagerFixture(tck, tck.serverDevice());

  ConnectionTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void connectsTwoQueuePairs() {
    EndpointPair pair = tck.setup().connect(caller, callee, callee.listen(1));

    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    assertThat(pair.server().queuePair().state()).isEqualTo(QueuePairState.RTS);
    pair.server().post(Requests.receive(1));
    pair.client().post(Requests.send(2).signaled());
    pair.client().sent().expectSuccess(2, SEND);
    pair.server().received().expectSuccess(1, RECV);
  }

  @Test
  void connectsADeviceToItself() {
    ConnectionManagerFixture callee = new ConnectionManagerFixture(tck, tck.device());
    EndpointPair pair = tck.setup().connect(caller, callee, callee.listen(1));
    TestMemory remote = pair.server().open(64).fill(1);
    TestMemory into = pair.client().sink(64);

    pair.client().post(Requests.read(1, remote, into).signaled());

    pair.client().sent().expectSuccess(1, RDMA_READ);
    into.assertHolds(1);
  }

  @Test
  void makesAQueuePairThatTakesReceivesBeforeItIsConnected() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier active = caller.resolve(listener.address());
    Endpoint client = tck.setup().client(caller, active);
    assertThat(client.queuePair().state()).isEqualTo(QueuePairState.INIT);
    assertThat(active.queuePair()).isSameAs(client.queuePair());
    client.post(Requests.receive(1));
    active.connect(tck.setup().parameters(), tck.timeout().toNanos());
    ConnectionIdentifier passive = callee.expectRequest().identifier();
    Endpoint server = tck.setup().server(callee, passive);
    assertThat(server.queuePair().state()).isEqualTo(QueuePairState.INIT);
    server.post(Requests.receive(2));

    passive.accept(tck.setup().parameters());
    caller.expect(ESTABLISHED, active);
    callee.expect(ESTABLISHED, passive);
    client.post(Requests.send(3));
    server.post(Requests.send(4));

    server.received().expectSuccess(2, RECV);
    client.received().expectSuccess(1, RECV);
  }

  @Test
  void tellsTheRequestAndWhereItCame() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier active = caller.resolve(listener.address());
    tck.setup().client(caller, active);

    active.connect(
        new ConnectionParameters(PrivateData.of(5, 1), 3, 2, 7, 7), tck.timeout().toNanos());

    ConnectionEvent request = callee.expectRequest();
    assertThat(request.listener()).isSameAs(listener);
    assertThat(request.status()).isZero();
    assertThat(request.identifier()).isNotSameAs(active);
    assertThat(request.identifier().manager()).isSameAs(callee.manager());
    assertThat(request.identifier().queuePair()).isNull();
    assertThat(request.identifier().peer()).isNotBlank();
    assertThat(request.responderResources()).as("responder resources of the peer").isEqualTo(3);
    assertThat(request.initiatorDepth()).as("initiator depth of the peer").isEqualTo(2);
    assertThat(request.privateData().isReadOnly()).isTrue();
    PrivateData.assertBegins(request.privateData(), 5, 1);
  }

  @Test
  void carriesPrivateDataBothWaysUpToTheMost() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier active = caller.resolve(listener.address());
    tck.setup().client(caller, active);
    ByteBuffer data = PrivateData.of(ConnectionParameters.MAX_CONNECT_DATA, 1);

    active.connect(ConnectionParameters.of(data), tck.timeout().toNanos());
    data.put(0, (byte) ~data.get(0));
    ConnectionEvent request = callee.expectRequest();
    tck.setup().server(callee, request.identifier());
    ByteBuffer answer = PrivateData.of(ConnectionParameters.MAX_ACCEPT_DATA, 2);
    request.identifier().accept(ConnectionParameters.of(answer));

    assertThat(data.position()).as("position of the private data").isZero();
    PrivateData.assertBegins(request.privateData(), ConnectionParameters.MAX_CONNECT_DATA, 1);
    PrivateData.assertBegins(
        caller.expect(ESTABLISHED, active).privateData(), ConnectionParameters.MAX_ACCEPT_DATA, 2);
  }

  @Test
  void refusesParametersThatAreOutOfRange() {
    ConnectionIdentifier active = caller.resolve(callee.listen(1).address());
    tck.setup().client(caller, active);
    ByteBuffer none = ByteBuffer.allocate(0);
    int tooManyServed = tck.attributes().maxReadAtomicAsResponder() + 1;
    int tooManyOut = tck.attributes().maxReadAtomicAsInitiator() + 1;

    for (ConnectionParameters bad :
        List.of(
            new ConnectionParameters(none, 1, 1, 8, 7),
            new ConnectionParameters(none, 1, 1, -1, 7),
            new ConnectionParameters(none, 1, 1, 7, 8),
            new ConnectionParameters(none, tooManyServed, 1, 7, 7),
            new ConnectionParameters(none, 1, tooManyOut, 7, 7),
            new ConnectionParameters(none, 1, -1, 7, 7))) {
      expectFailure(INVALID, () -> active.connect(bad, tck.timeout().toNanos()));
    }

    active.connect(tck.setup().parameters(), tck.timeout().toNanos());
    callee.expectRequest().identifier().close();
    caller.expect(REJECTED, active);
  }

  @Test
  void refusesMorePrivateDataThanARequestCarries() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier active = caller.resolve(listener.address());
    tck.setup().client(caller, active);
    ByteBuffer large = PrivateData.of(ConnectionParameters.MAX_CONNECT_DATA + 1, 1);

    expectFailure(
        INVALID, () -> active.connect(ConnectionParameters.of(large), tck.timeout().toNanos()));
  }

  @Test
  void refusesMorePrivateDataThanAnAnswerCarries() {
    ConnectionIdentifier active = calling(callee.listen(1));
    ConnectionIdentifier passive = callee.expectRequest().identifier();
    tck.setup().server(callee, passive);
    ByteBuffer large = PrivateData.of(ConnectionParameters.MAX_ACCEPT_DATA + 1, 1);

    expectFailure(INVALID, () -> passive.accept(ConnectionParameters.of(large)));

    passive.accept(ConnectionParameters.defaults());
    caller.expect(ESTABLISHED, active);
  }

  @Test
  void rejectsWithDataAndStatus() {
    ConnectionIdentifier active = calling(callee.listen(1));
    ConnectionIdentifier passive = callee.expectRequest().identifier();
    ByteBuffer large = PrivateData.of(ConnectionParameters.MAX_REJECT_DATA + 1, 1);

    expectFailure(INVALID, () -> passive.reject(large));
    passive.reject(PrivateData.of(ConnectionParameters.MAX_REJECT_DATA, 4));

    ConnectionEvent rejected = caller.expect(REJECTED, active);
    assertThat(rejected.status()).isEqualTo(ConnectionEvent.REJECT_CONSUMER_DEFINED);
    PrivateData.assertBegins(rejected.privateData(), ConnectionParameters.MAX_REJECT_DATA, 4);
  }

  @Test
  void isRejectedWhenNobodyListens() {
    ConnectionIdentifier active = caller.resolve(tck.address("nobody"));
    tck.setup().client(caller, active);

    active.connect(ConnectionParameters.defaults(), tck.timeout().toNanos());

    assertThat(caller.expect(REJECTED, active).status())
        .isEqualTo(ConnectionEvent.REJECT_INVALID_SERVICE_ID);
  }

  @Test
  void isRejectedWhenTheListenerWasClosed() {
    ConnectionListener listener = callee.listen(1);
    listener.close();
    ConnectionIdentifier active = calling(listener.address());

    assertThat(caller.expect(REJECTED, active).status())
        .isEqualTo(ConnectionEvent.REJECT_INVALID_SERVICE_ID);
  }

  @Test
  void isRejectedWhenTheListenerClosesBeforeAnybodyTookTheRequest() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier active = calling(listener);

    listener.close();

    caller.expect(REJECTED, active);
  }

  @Test
  void isRejectedWhenTheRequestIsClosed() {
    ConnectionIdentifier active = calling(callee.listen(1));

    callee.expectRequest().identifier().close();

    caller.expect(REJECTED, active);
  }

  @Test
  void isUnreachableWhenTheServerDoesNotAnswerInTime() {
    Duration time = Duration.ofMillis(100);
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier active = caller.resolve(listener.address());
    tck.setup().client(caller, active);
    long start = System.nanoTime();

    active.connect(ConnectionParameters.defaults(), time.toNanos());

    assertThat(caller.expect(UNREACHABLE, active).status()).isEqualTo(ConnectionEvent.TIMED_OUT);
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(time.toNanos());
    callee.expectRequest();
  }

  @Test
  void cannotBeAcceptedOnceTheCallerHasGivenUp() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier active = caller.resolve(listener.address());
    tck.setup().client(caller, active);
    active.connect(ConnectionParameters.defaults(), Duration.ofMillis(10).toNanos());
    caller.expect(UNREACHABLE, active);
    ConnectionIdentifier passive = callee.expectRequest().identifier();
    tck.setup().server(callee, passive);

    passive.accept(ConnectionParameters.defaults());

    callee.expect(CONNECT_ERROR, passive);
    caller.expectNothingMore();
  }

  @Test
  void cannotBeAcceptedOnceTheCallerHasClosed() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier active = caller.resolve(listener.address());
    Endpoint client = tck.setup().client(caller, active);
    active.connect(ConnectionParameters.defaults(), tck.timeout().toNanos());
    ConnectionIdentifier passive = callee.expectRequest().identifier();
    Endpoint server = tck.setup().server(callee, passive);
    client.queuePair().close();
    active.close();

    passive.accept(ConnectionParameters.defaults());

    callee.expect(CONNECT_ERROR, passive);
    caller.expectNothingMore();
    assertThat(server.queuePair().state()).isNotEqualTo(QueuePairState.RTS);
  }

  @Test
  void isConnectedAtBothEndsOrAtNeitherWhenTheAnswerRacesWithTheTimeout() {
    ConnectionListener listener = callee.listen(1);
    for (int round = 0; round < tck.iterations(30); round++) {
      ConnectionIdentifier active = caller.resolve(listener.address());
      tck.setup().client(caller, active);
      active.connect(ConnectionParameters.defaults(), Duration.ofMillis(1).toNanos());
      ConnectionIdentifier passive = callee.expectRequest().identifier();
      tck.setup().server(callee, passive);
      Deadline timeout = Deadline.in(Duration.ofNanos(900_000L + 10_000L * round));
      while (!timeout.isOver()) {
        Thread.onSpinWait();
      }

      passive.accept(ConnectionParameters.defaults());

      ConnectionEvent.Type atCaller = caller.next().type();
      ConnectionEvent.Type atCallee = callee.next().type();
      assertThat(atCaller).isIn(ESTABLISHED, UNREACHABLE);
      assertThat(atCallee).isEqualTo(atCaller == ESTABLISHED ? ESTABLISHED : CONNECT_ERROR);
    }
  }

  @Test
  void canBeRejectedWithoutAQueuePairAndTriedAgain() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier refused = calling(listener);
    callee.expectRequest().identifier().reject(ByteBuffer.allocate(0));
    caller.expect(REJECTED, refused);

    EndpointPair pair = tck.setup().connect(caller, callee, listener);

    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void leavesARequestWithoutAnAnswerThatDoesNotFitTheBacklog() {
    ConnectionListener listener = callee.listen(2);
    calling(listener);
    calling(listener);
    ConnectionIdentifier unanswered = caller.resolve(listener.address());
    tck.setup().client(caller, unanswered);

    unanswered.connect(ConnectionParameters.defaults(), Duration.ofSeconds(1).toNanos());

    caller.expect(UNREACHABLE, unanswered);
    List<ConnectionIdentifier> requests =
        List.of(callee.expectRequest().identifier(), callee.expectRequest().identifier());
    for (ConnectionIdentifier passive : requests) {
      tck.setup().server(callee, passive);
      passive.accept(ConnectionParameters.defaults());
      caller.expect(ESTABLISHED);
      callee.expect(ESTABLISHED, passive);
    }
  }

  @Test
  void asksAgainUntilTheRequestFitsTheBacklog() {
    ConnectionListener listener = callee.listen(1);
    ConnectionIdentifier first = calling(listener);
    ConnectionIdentifier second = calling(listener);

    callee.expectRequest();

    // The requests may overtake each other on the network, so either of them may be the one that
    // retried.
    ConnectionIdentifier passive = callee.expectRequest().identifier();
    tck.setup().server(callee, passive);
    passive.accept(ConnectionParameters.defaults());
    assertThat(caller.expect(ESTABLISHED).identifier()).isIn(first, second);
  }

  @Test
  void hasRoomInTheBacklogAgainOnceRequestsAreAnswered() {
    ConnectionListener listener = callee.listen(1);

    for (int i = 0; i < 4; i++) {
      EndpointPair pair = tck.setup().connect(caller, callee, listener);
      assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    }
  }

  @Test
  void connectsManyAtOnce() throws InterruptedException {
    int threads = 4;
    int each = 16;
    ConnectionListener listener = callee.listen(threads * each);
    URI address = listener.address();
    Parallel parallel = new Parallel();
    for (int thread = 0; thread < threads; thread++) {
      parallel.thread(() -> connectEach(each, address));
    }
    parallel.thread(() -> acceptEach(threads * each));

    parallel.run(tck.timeout().multipliedBy(4));
  }

  @Test
  void refusesASecondQueuePair() {
    ConnectionIdentifier active = caller.resolve(callee.listen(1).address());
    Endpoint client = tck.setup().client(caller, active);

    expectFailure(
        INVALID,
        () ->
            tck.own(
                active.createQueuePair(
                    client.domain(),
                    tck.setup().options(client.sent().queue(), client.received().queue()))));
  }

  @Test
  void refusesToConnectWithoutAQueuePair() {
    ConnectionIdentifier active = caller.resolve(callee.listen(1).address());

    expectFailure(
        INVALID, () -> active.connect(ConnectionParameters.defaults(), tck.timeout().toNanos()));
  }

  @Test
  void refusesToConnectTwice() {
    ConnectionIdentifiers link =
        tck.setup().connect(caller, callee, callee.listen(1)).requiredIdentifiers();

    expectFailure(
        INVALID,
        () -> link.active().connect(ConnectionParameters.defaults(), tck.timeout().toNanos()));
  }

  @Test
  void refusesToAcceptWithoutAQueuePair() {
    calling(callee.listen(1));
    ConnectionIdentifier passive = callee.expectRequest().identifier();

    expectFailure(INVALID, () -> passive.accept(ConnectionParameters.defaults()));
  }

  @Test
  void refusesToAcceptTwice() {
    ConnectionIdentifiers link =
        tck.setup().connect(caller, callee, callee.listen(1)).requiredIdentifiers();

    expectFailure(INVALID, () -> link.passive().accept(ConnectionParameters.defaults()));
  }

  @Test
  void refusesToRejectWhatItAccepted() {
    ConnectionIdentifiers link =
        tck.setup().connect(caller, callee, callee.listen(1)).requiredIdentifiers();

    expectFailure(INVALID, () -> link.passive().reject(ByteBuffer.allocate(0)));
  }

  @Test
  void refusesToAcceptWhatItAskedFor() {
    ConnectionIdentifier active = calling(callee.listen(1));

    expectFailure(INVALID, () -> active.accept(ConnectionParameters.defaults()));
    expectFailure(INVALID, () -> active.reject(ByteBuffer.allocate(0)));
    callee.expect(CONNECT_REQUEST).identifier().close();
  }

  /** Creates an identifier that has sent a connect request. */
  private ConnectionIdentifier calling(ConnectionListener listener) {
    return calling(listener.address());
  }

  private ConnectionIdentifier calling(URI address) {
    ConnectionIdentifier active = caller.resolve(address);
    tck.setup().client(caller, active);
    active.connect(ConnectionParameters.defaults(), tck.timeout().toNanos());
    return active;
  }

  private void connectEach(int count, URI address) {
    ConnectionManagerFixture party = new ConnectionManagerFixture(tck, tck.device());
    Map<ConnectionIdentifier, Endpoint> clients = new HashMap<>();
    for (int i = 0; i < count; i++) {
      ConnectionIdentifier active = party.resolve(address);
      Endpoint client = tck.setup().client(party, active);
      client.post(Requests.receive(1));
      clients.put(active, client);
    }
    for (ConnectionIdentifier active : clients.keySet()) {
      active.connect(ConnectionParameters.defaults(), tck.timeout().toNanos());
    }
    for (int i = 0; i < count; i++) {
      ConnectionEvent established = party.expect(ESTABLISHED);
      Endpoint client = clients.remove(established.identifier());
      assertThat(client).as("the end of %s", established).isNotNull();
      client.received().expectSuccess(1, RECV);
    }
  }

  /** Sends a message to every active side, which shows that no two connections were confused. */
  private void acceptEach(int count) {
    Map<ConnectionIdentifier, Endpoint> servers = new HashMap<>();
    for (int established = 0; established < count; ) {
      ConnectionEvent event = callee.next();
      ConnectionIdentifier passive = event.identifier();
      if (event.type() == CONNECT_REQUEST) {
        tck.own(passive);
        servers.put(passive, tck.setup().server(callee, passive));
        passive.accept(ConnectionParameters.defaults());
      } else {
        assertThat(event.type()).as("type of %s", event).isEqualTo(ESTABLISHED);
        Endpoint server = servers.remove(passive);
        server.post(Requests.send(1));
        established++;
      }
    }
  }
}
