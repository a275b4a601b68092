package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.QueuePairType.UD;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Unreliable datagrams: one message of up to an MTU to any peer that an address handle leads to,
 * behind 40 bytes that tell where it came from. What the receiver does not take is lost.
 */
abstract class DatagramTests extends VerbsTests {
  private static final int HEADER = GlobalRoute.LENGTH;

  private boolean refused;

  DatagramTests(VerbsTck provider) {
    super(provider);
  }

  @BeforeEach
  void needsDatagrams() {
    refused = isRefused(UD);
    if (refused) {
      AddressVector self = AddressVector.to(tck.device().port().gids().get(0));
      ProtectionDomain domain = tck.domain();
      expectFailure(NOT_SUPPORTED, () -> domain.createAddressHandle(self));
    }
  }

  /** Two ends, and the way from the client's to the server's. */
  private final class Way {
    final EndpointPair pair;
    final AddressHandle handle;

    Way() {
      this(tck.setup());
    }

    Way(EndpointSetup setup) {
      pair = setup.type(UD).byHand();
      handle = pair.client().handleTo(pair.server());
    }

    /** A request to the server with the key that it expects. */
    SendWorkRequest to(SendWorkRequest request) {
      return to(request, TransitionAttributes.QUEUE_KEY);
    }

    SendWorkRequest to(SendWorkRequest request, int queueKey) {
      return request.to(handle, pair.server().queuePair().number(), queueKey);
    }

    /** Posts one and takes its completion, a success. */
    void send(SendWorkRequest request) {
      pair.client().post(request.signaled());
      pair.client().sent().expectSuccess(request.id(), SEND);
    }

    /** Of what came before, nothing arrives any more; the message after it does. */
    void assertTakesTheNextMessage() {
      TestMemory into = pair.server().memory(HEADER + 8, LOCAL_WRITE);
      pair.server().post(Requests.receive(50, into));
      send(to(Requests.send(51, pair.client().memory(8).putLong(0, 4711))));
      pair.server().received().expectSuccess(50, RECV);
      assertThat(into.getLong(HEADER)).isEqualTo(4711);
      pair.server().received().expectNothing();
    }
  }

  @Test
  void deliversAMessageBehindFortyBytes() {
    if (refused) {
      return;
    }
    Way way = new Way();
    TestMemory into = way.pair.server().memory(HEADER + 100, LOCAL_WRITE);
    way.pair.server().post(Requests.receive(1, into));

    way.send(way.to(Requests.send(2, way.pair.client().memory(64).fill(7))));

    WorkCompletion received = way.pair.server().received().expectSuccess(1, RECV);
    assertThat(received.byteLength()).isEqualTo(HEADER + 64);
    assertThat(received.flags()).isEqualTo(WorkCompletion.GRH);
    assertThat(received.sourceQueuePair()).isEqualTo(way.pair.client().queuePair().number());
    assertThat(received.queuePairNumber()).isEqualTo(way.pair.server().queuePair().number());
    into.part(HEADER, 64).assertHolds(7);
    into.part(HEADER + 64, 36).assertUntouched();
  }

  @Test
  void carriesImmediates() {
    if (refused) {
      return;
    }
    Way way = new Way();
    way.pair.server().post(Requests.receive(1, way.pair.server().memory(HEADER, LOCAL_WRITE)));

    way.send(way.to(Requests.sendWithImmediate(2, 0x1234_5678)));

    WorkCompletion received = way.pair.server().received().expectSuccess(1, RECV);
    assertThat(received.flags()).isEqualTo(WorkCompletion.GRH | WorkCompletion.WITH_IMM);
    assertThat(received.immediate()).isEqualTo(0x1234_5678);
    assertThat(received.byteLength()).isEqualTo(HEADER);
  }

  @Test
  void tellsInTheFortyBytesWhereAMessageCameFrom() {
    if (refused) {
      return;
    }
    Way way = new Way();
    TestMemory into = way.pair.server().memory(HEADER, LOCAL_WRITE);
    way.pair.server().post(Requests.receive(1, into));

    way.send(way.to(Requests.send(2)));

    way.pair.server().received().expectSuccess(1, RECV);
    AddressVector back = GlobalRoute.back(into.copy(), way.pair.server().device().port().gids());
    assertThat(back.destination()).isEqualTo(way.pair.client().device().port().gids().get(0));
  }

  @Test
  void leadsBackToTheSenderOfAMessage() {
    if (refused) {
      return;
    }
    Way way = new Way();
    Endpoint server = way.pair.server();
    TestMemory request = server.memory(HEADER + 8, LOCAL_WRITE);
    TestMemory answer = way.pair.client().memory(HEADER + 8, LOCAL_WRITE);
    server.post(Requests.receive(1, request));
    way.pair.client().post(Requests.receive(2, answer));
    way.send(way.to(Requests.send(3, way.pair.client().memory(8).putLong(0, 20))));
    WorkCompletion received = server.received().expectSuccess(1, RECV);

    AddressHandle back = tck.own(server.domain().createAddressHandle(received, request.copy()));
    server.post(
        Requests.send(4, server.memory(8).putLong(0, 1 + request.getLong(HEADER)))
            .to(back, received.sourceQueuePair(), TransitionAttributes.QUEUE_KEY)
            .signaled());

    server.sent().expectSuccess(4, SEND);
    way.pair.client().received().expectSuccess(2, RECV);
    assertThat(answer.getLong(HEADER)).isEqualTo(21);
  }

  @Test
  void reachesManyPeersFromOneQueuePair() {
    if (refused) {
      return;
    }
    Way way = new Way();
    List<Endpoint> peers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      peers.add(tck.setup().type(UD).byHand().server());
    }
    TestMemory from = way.pair.client().memory(4 * 8);

    for (int i = 0; i < 4; i++) {
      Endpoint peer = peers.get(i);
      TestMemory into = peer.memory(HEADER + 8, LOCAL_WRITE);
      peer.post(Requests.receive(1, into));
      way.send(
          Requests.send(i, from.part(i * 8, 8).putLong(0, 100 + i))
              .to(way.handle, peer.queuePair().number(), TransitionAttributes.QUEUE_KEY));
      peer.received().expectSuccess(1, RECV);
      assertThat(into.getLong(HEADER)).isEqualTo(100 + i);
    }
  }

  @Test
  void losesAMessageWithAnotherQueueKey() {
    if (refused) {
      return;
    }
    Way way = new Way();
    TestMemory into = way.pair.server().memory(HEADER + 8, LOCAL_WRITE);
    way.pair.server().post(Requests.receive(1, into));

    way.send(way.to(Requests.send(2), TransitionAttributes.QUEUE_KEY ^ 1));
    way.send(way.to(Requests.sendWithImmediate(3, 30)));

    assertThat(way.pair.server().received().expectSuccess(1, RECV).immediate()).isEqualTo(30);
    way.pair.server().received().expectNothing();
  }

  @Test
  void sendsItsOwnQueueKeyWhereTheHighBitAsksForIt() {
    if (refused) {
      return;
    }
    Way way = new Way();
    way.pair.server().post(Requests.receive(1, way.pair.server().memory(HEADER, LOCAL_WRITE)));

    way.send(way.to(Requests.send(2), 0x8000_0000));
    way.send(way.to(Requests.sendWithImmediate(3, 30)));

    assertThat(way.pair.server().received().expectSuccess(1, RECV).hasImmediate())
        .as("whether it was the second message that arrived")
        .isFalse();
  }

  @Test
  void takesAnotherQueueKeyOnceItIsChanged() {
    if (refused) {
      return;
    }
    Way way = new Way();
    way.pair.server().post(Requests.receive(1, way.pair.server().memory(HEADER, LOCAL_WRITE)));

    way.pair.server().queuePair().modify(new QueuePairAttributes().queueKey(77));
    way.send(way.to(Requests.send(2)));
    way.send(way.to(Requests.sendWithImmediate(3, 30), 77));

    assertThat(way.pair.server().received().expectSuccess(1, RECV).immediate()).isEqualTo(30);
  }

  @Test
  void losesAMessageForAQueuePairThatIsNotThere() {
    if (refused) {
      return;
    }
    Way way = new Way();
    int gone = tck.setup().type(UD).byHand().server().queuePair().number();
    int connected = tck.setup().byHand().server().queuePair().number();

    way.send(Requests.send(1).to(way.handle, 0xff_fff0, TransitionAttributes.QUEUE_KEY));
    way.send(Requests.send(2).to(way.handle, connected, TransitionAttributes.QUEUE_KEY));
    way.send(Requests.send(3).to(way.handle, gone, TransitionAttributes.QUEUE_KEY ^ 5));

    way.assertTakesTheNextMessage();
  }

  @Test
  void losesAMessageForWhichThereIsNoReceive() {
    if (refused) {
      return;
    }
    Way way = new Way();

    way.send(way.to(Requests.send(1, way.pair.client().memory(8).fill(1))));
    awaitARoundTrip();

    way.assertTakesTheNextMessage();
  }

  @Test
  void losesAMessageForAQueuePairThatIsNotReadyToReceive() {
    if (refused) {
      return;
    }
    Way way = new Way();
    Endpoint early = tck.setup().type(UD).endpointIn(QueuePairState.INIT);
    early.post(Requests.receive(1, early.memory(HEADER, LOCAL_WRITE)));
    AddressHandle handle = way.pair.client().handleTo(early);

    way.send(Requests.send(2).to(handle, early.queuePair().number(), TransitionAttributes.QUEUE_KEY));

    early.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    early.received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void keepsTheReceiveOfAMessageThatIsTooLargeForIt() {
    if (refused) {
      return;
    }
    Way way = new Way();
    TestMemory into = way.pair.server().memory(HEADER + 8, LOCAL_WRITE);
    TestMemory from = way.pair.client().memory(9).fill(1);
    way.pair.server().post(Requests.receive(1, into));

    way.send(way.to(Requests.send(2, from)));
    way.send(way.to(Requests.send(3, from.part(0, 8))));

    assertThat(way.pair.server().received().expectSuccess(1, RECV).byteLength())
        .isEqualTo(HEADER + 8);
    assertThat(way.pair.server().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void needsRoomForTheFortyBytes() {
    if (refused) {
      return;
    }
    Way way = new Way();
    TestMemory into = way.pair.server().memory(HEADER - 1, LOCAL_WRITE);
    way.pair.server().post(Requests.receive(1, into));

    way.send(way.to(Requests.send(2)));

    way.pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    way.pair.server().received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void carriesAWholeMtu() {
    if (refused) {
      return;
    }
    Way way = new Way();
    int mtu = tck.device().port().activeMtu().bytes();
    TestMemory into = way.pair.server().memory(HEADER + mtu, LOCAL_WRITE);
    way.pair.server().post(Requests.receive(1, into));

    way.send(way.to(Requests.send(2, way.pair.client().memory(mtu).fill(3))));

    assertThat(way.pair.server().received().expectSuccess(1, RECV).byteLength())
        .isEqualTo(HEADER + mtu);
    into.part(HEADER, mtu).assertHolds(3);
  }

  @Test
  void neverCutsAMessageThatIsLargerThanTheMtu() {
    if (refused) {
      return;
    }
    Way way = new Way();
    int mtu = tck.device().port().activeMtu().bytes();
    TestMemory into = way.pair.server().memory(HEADER + 2 * mtu, LOCAL_WRITE);
    way.pair.server().post(Requests.receive(1, into));
    SendWorkRequest request = way.to(Requests.send(2, way.pair.client().memory(mtu + 1).fill(3)));

    try {
      way.pair.client().post(request.signaled());
      WorkCompletion sent = way.pair.client().sent().next();
      assertThat(sent.workRequestId()).isEqualTo(2);
      tck.observed("client's send: " + sent.status());
    } catch (PostException e) {
      assertThat(e.error()).isEqualTo(INVALID);
    }

    way.pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    way.pair.server().received().expectError(1, WR_FLUSH_ERR);
    into.assertUntouched();
  }

  @Test
  void carriesNothingAtAll() {
    if (refused) {
      return;
    }
    Way way = new Way();
    way.pair.server().post(Requests.receive(1, way.pair.server().memory(HEADER, LOCAL_WRITE)));

    way.send(way.to(Requests.send(2)));

    assertThat(way.pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(HEADER);
  }

  @Test
  void carriesInlineData() {
    if (refused || isRefused(Capability.INLINE_DATA)) {
      return;
    }
    Way way = new Way(tck.setup().inlineData(8));
    TestMemory into = way.pair.server().memory(HEADER + 8, LOCAL_WRITE);
    way.pair.server().post(Requests.receive(1, into));
    ByteBuffer data = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(0, 5);

    way.send(way.to(new SendWorkRequest().id(2).send().inline(data)));

    way.pair.server().received().expectSuccess(1, RECV);
    assertThat(into.getLong(HEADER)).isEqualTo(5);
  }

  @Test
  void putsTheFortyBytesAndTheMessageIntoPieces() {
    if (refused) {
      return;
    }
    Way way = new Way(tck.setup().scatterGather(2, 2));
    TestMemory header = way.pair.server().memory(HEADER, LOCAL_WRITE);
    TestMemory into = way.pair.server().memory(64, LOCAL_WRITE);
    TestMemory from = way.pair.client().memory(64).fill(5);
    way.pair.server().post(Requests.receive(1, header, into));

    way.send(way.to(Requests.send(2, from.part(0, 10), from.part(10, 54))));

    way.pair.server().received().expectSuccess(1, RECV);
    into.assertHolds(5);
  }

  @Test
  void talksToItself() {
    if (refused) {
      return;
    }
    Endpoint end = tck.setup().type(UD).endpointIn(QueuePairState.RTS);
    TestMemory into = end.memory(HEADER + 8, LOCAL_WRITE);
    end.post(Requests.receive(1, into));

    end.post(
        Requests.send(2, end.memory(8).putLong(0, 6))
            .to(end.handleTo(end), end.queuePair().number(), TransitionAttributes.QUEUE_KEY)
            .signaled());

    end.sent().expectSuccess(2, SEND);
    end.received().expectSuccess(1, RECV);
    assertThat(into.getLong(HEADER)).isEqualTo(6);
  }

  @Test
  void refusesAllButSendsWhenTheyArePosted() {
    if (refused) {
      return;
    }
    Way way = new Way();
    TestMemory into = way.pair.client().memory(8, LOCAL_WRITE);
    TestMemory remote = way.pair.server().open(8);
    List<SendWorkRequest> requests =
        List.of(
            Requests.write(7, remote, into),
            Requests.writeWithImmediate(7, 1, remote, into),
            Requests.read(7, remote, into),
            Requests.fetchAndAdd(7, remote, 1, into),
            Requests.compareAndSwap(7, remote, 0, 1, into),
            new SendWorkRequest().id(7).sendWithInvalidate(1),
            new SendWorkRequest().id(7).localInvalidate(1));

    for (SendWorkRequest request : requests) {
      SendWorkRequest addressed = way.to(request).signaled();
      expectBadPost(NOT_SUPPORTED, 7, () -> way.pair.client().post(addressed));
    }

    assertThat(way.pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    way.pair.client().sent().expectNothing();
  }

  @Test
  void refusesAMessageWithoutAnAddress() {
    if (refused) {
      return;
    }
    Way way = new Way();

    expectBadPost(INVALID, 7, () -> way.pair.client().post(Requests.send(7)));

    way.assertTakesTheNextMessage();
  }

  @Test
  void refusesAMessageToAnAddressThatIsClosed() {
    if (refused) {
      return;
    }
    Way way = new Way();
    way.handle.close();

    expectBadPost(INVALID, 7, () -> way.pair.client().post(way.to(Requests.send(7))));
  }

  @Test
  void refusesANumberThatNoQueuePairHas() {
    if (refused) {
      return;
    }
    Way way = new Way();

    for (int number : new int[] {-1, 0x100_0000}) {
      SendWorkRequest request = Requests.send(7).to(way.handle, number, TransitionAttributes.QUEUE_KEY);
      expectBadPost(INVALID, 7, () -> way.pair.client().post(request));
    }
  }

  @Test
  void stopsOnlyItsSendQueueWhenItFailsItself() {
    if (refused) {
      return;
    }
    Way way = new Way();

    way.pair.client().failOneOfItsSends();

    way.pair.client().awaitState(QueuePairState.SQE);
    way.pair.client().post(way.to(Requests.send(1)));
    way.pair.client().sent().expectError(1, WR_FLUSH_ERR);
    way.pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.RTS));
    way.assertTakesTheNextMessage();
  }

  @Test
  void receivesWhileItsSendQueueIsStopped() {
    if (refused) {
      return;
    }
    Way way = new Way();
    Endpoint server = way.pair.server();
    server.failOneOfItsSends();
    server.awaitState(QueuePairState.SQE);

    way.assertTakesTheNextMessage();

    assertThat(server.queuePair().state()).isEqualTo(QueuePairState.SQE);
  }

  @Test
  void stopsAtAReceiveThatMayNotBeWritten() {
    if (refused) {
      return;
    }
    Way way = new Way();
    way.pair.server().post(Requests.receive(1, way.pair.server().memory(HEADER + 8)));

    way.send(way.to(Requests.send(2, way.pair.client().memory(8))));

    way.pair.server().received().expectError(1, LOC_PROT_ERR);
    way.pair.server().awaitState(QueuePairState.ERR);
    assertThat(way.pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void refusesAddressesThatAreOutOfRange() {
    if (refused) {
      return;
    }
    ProtectionDomain domain = tck.domain();
    Gid self = tck.device().port().gids().get(0);
    int gids = tck.device().port().gids().size();
    List<AddressVector> wrong =
        List.of(
            new AddressVector(self, -1, 64, 0, 0),
            new AddressVector(self, gids, 64, 0, 0),
            new AddressVector(self, 0, -1, 0, 0),
            new AddressVector(self, 0, 256, 0, 0),
            new AddressVector(self, 0, 64, -1, 0),
            new AddressVector(self, 0, 64, 256, 0),
            new AddressVector(self, 0, 64, 0, -1),
            new AddressVector(self, 0, 64, 0, 0x10_0000));

    for (AddressVector vector : wrong) {
      expectFailure(INVALID, vector.toString(), () -> domain.createAddressHandle(vector));
    }

    domain.close();
  }

  @Test
  void refusesAWayBackFromWhatIsNoDatagram() {
    if (refused) {
      return;
    }
    Way way = new Way();
    TestMemory into = way.pair.server().memory(HEADER, LOCAL_WRITE);
    way.pair.server().post(Requests.receive(1, into));
    way.send(way.to(Requests.send(2)));
    WorkCompletion received = way.pair.server().received().expectSuccess(1, RECV);
    ProtectionDomain domain = way.pair.server().domain();
    WorkCompletion other = new WorkCompletion();
    other.set(1, RECV, 40, 0, 5, 6, 0);

    expectFailure(INVALID, () -> domain.createAddressHandle(other, into.copy()));
    expectFailure(
        INVALID, () -> domain.createAddressHandle(received, into.copy().limit(HEADER - 1)));
    expectFailure(INVALID, () -> domain.createAddressHandle(received, ByteBuffer.allocate(HEADER)));
  }

  @Test
  void keepsItsDomainOpenWhileAnAddressHandleIs() {
    if (refused) {
      return;
    }
    ProtectionDomain domain = tck.domain();
    AddressVector self = AddressVector.to(tck.device().port().gids().get(0));
    AddressHandle handle = tck.own(domain.createAddressHandle(self));

    assertThat(handle.vector()).isEqualTo(self);
    assertThat(handle.protectionDomain()).isSameAs(domain);
    expectFailure(BUSY, domain::close);
    handle.close();
    handle.close();

    domain.close();
  }

  @Test
  void takesEachMessageOnceWhenManySendAtOnce() throws InterruptedException {
    if (refused) {
      return;
    }
    int senders = 4;
    int each = tck.rounds(1000);
    int receives = 4 * 64;
    Way way = new Way(tck.setup().receives(receives));
    Endpoint server = way.pair.server();
    TestMemory into = server.memory(receives * 64, LOCAL_WRITE);
    for (int id = 0; id < receives; id++) {
      server.post(Requests.receive(id, into.part(id * 64, HEADER + 8)));
    }
    BitSet seen = new BitSet();
    Semaphore credits = new Semaphore(receives);

    Parallel parallel = new Parallel();
    for (int i = 0; i < senders; i++) {
      Endpoint end = tck.setup().type(UD).endpointIn(QueuePairState.RTS);
      AddressHandle handle = end.handleTo(server);
      int first = i * each;
      parallel.thread(
          () -> sendAll(end, handle, server.queuePair().number(), first, each, credits));
    }
    parallel.thread(
        () -> {
          for (int taken = 0; taken < senders * each; taken++) {
            WorkCompletion received = server.received().next();
            int id = (int) received.workRequestId();
            int message = (int) into.getLong(id * 64 + HEADER);
            assertThat(received.isSuccess()).as("%s", received).isTrue();
            assertThat(seen.get(message)).as("message %d was there before", message).isFalse();
            seen.set(message);
            server.post(Requests.receive(id, into.part(id * 64, HEADER + 8)));
            credits.release();
          }
        });
    parallel.run(tck.patience().multipliedBy(2));

    assertThat(seen.cardinality()).isEqualTo(senders * each);
  }

  /** By when a datagram that was sent before is there as well, or lost. */
  private void awaitARoundTrip() {
    EndpointPair pair = tck.setup().byHand();
    pair.client().post(Requests.nothing(1).signaled());
    pair.client().sent().expectSuccess(1, CompletionOpcode.RDMA_WRITE);
  }

  /** A credit for each message, so that there is a receive for it. */
  private static void sendAll(
      Endpoint end, AddressHandle handle, int number, int first, int count, Semaphore credits)
      throws InterruptedException {
    TestMemory from = end.memory(8);
    for (int i = 0; i < count; i++) {
      credits.acquire();
      end.post(
          Requests.send(i, from.putLong(0, first + i))
              .to(handle, number, TransitionAttributes.QUEUE_KEY)
              .signaled());
      end.sent().expectSuccess(i, SEND);
    }
  }
}
