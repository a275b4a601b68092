// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
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
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Unreliable datagrams (UD): a message of up to one MTU to the peer that an address handle names.
 * The receiver gets it behind a 40-byte global routing header, or loses it if it cannot take it.
 */
abstract class DatagramTests extends UnreliableTransportTests {
  private static final int HEADER = GlobalRoute.LENGTH;

  DatagramTests(VerbsTck provider) {
    super(provider, UD);
  }

  @Override
  void assertRefusedToo() {
    AddressVector self = TransitionAttributes.wayTo(tck.device());
    ProtectionDomain domain = tck.domain();
    expectFailure(NOT_SUPPORTED, () -> domain.createAddressHandle(self));
  }

  @Override
  UnreliablePath path() {
    return path(tck.setup());
  }

  private static UnreliablePath path(EndpointSetup setup) {
    EndpointPair pair = setup.type(UD).byHand();
    return new UnreliablePath(pair, pair.client().handleTo(pair.server()));
  }

  /** Waits for a round trip: datagrams sent before it have arrived or are lost. */
  @Override
  void awaitDelivery(UnreliablePath path) {
    EndpointPair pair = tck.setup().byHand();
    pair.client().post(Requests.nothing(1).signaled());
    pair.client().sent().expectSuccess(1, CompletionOpcode.RDMA_WRITE);
  }

  @Test
  void deliversAMessageBehindFortyBytes() {
    UnreliablePath path = path();
    TestMemory into = path.postReceive(1, 100);

    path.send(path.to(Requests.send(2, path.client().memory(64).fill(7))));

    WorkCompletion received = path.server().received().expectSuccess(1, RECV);
    assertThat(received.byteLength()).isEqualTo(HEADER + 64);
    assertThat(received.flags()).isEqualTo(WorkCompletion.GRH);
    assertThat(received.sourceQueuePair()).isEqualTo(path.client().queuePair().number());
    assertThat(received.queuePairNumber()).isEqualTo(path.server().queuePair().number());
    into.part(HEADER, 64).assertHolds(7);
    into.part(HEADER + 64, 36).assertUntouched();
  }

  @Test
  void tellsInTheFortyBytesWhereAMessageCameFrom() {
    UnreliablePath path = path();
    TestMemory into = path.postReceive(1, 0);

    path.send(path.to(Requests.send(2)));

    path.server().received().expectSuccess(1, RECV);
    AddressVector back = GlobalRoute.back(into.copy(), path.server().device().port().gids());
    assertThat(back.destination()).isEqualTo(path.client().device().port().gids().get(0));
  }

  @Test
  void leadsBackToTheSenderOfAMessage() {
    UnreliablePath path = path();
    Endpoint server = path.server();
    TestMemory request = server.memory(HEADER + 8, LOCAL_WRITE);
    TestMemory answer = path.client().memory(HEADER + 8, LOCAL_WRITE);
    server.post(Requests.receive(1, request));
    path.client().post(Requests.receive(2, answer));
    path.send(path.to(Requests.send(3, path.client().memory(8).putLong(0, 20))));
    WorkCompletion received = server.received().expectSuccess(1, RECV);

    AddressHandle back = tck.own(server.domain().createAddressHandle(received, request.copy()));
    server.post(
        Requests.send(4, server.memory(8).putLong(0, 1 + request.getLong(HEADER)))
            .to(back, received.sourceQueuePair(), TransitionAttributes.QUEUE_KEY)
            .signaled());

    server.sent().expectSuccess(4, SEND);
    path.client().received().expectSuccess(2, RECV);
    assertThat(answer.getLong(HEADER)).isEqualTo(21);
  }

  @Test
  void reachesManyPeersFromOneQueuePair() {
    UnreliablePath path = path();
    List<Endpoint> peers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      peers.add(tck.setup().type(UD).byHand().server());
    }
    TestMemory from = path.client().memory(4 * 8);

    for (int i = 0; i < 4; i++) {
      Endpoint peer = peers.get(i);
      TestMemory into = peer.memory(HEADER + 8, LOCAL_WRITE);
      peer.post(Requests.receive(1, into));
      path.send(
          Requests.send(i, from.part(i * 8, 8).putLong(0, 100 + i))
              .to(
                  path.requiredHandle(),
                  peer.queuePair().number(),
                  TransitionAttributes.QUEUE_KEY));
      peer.received().expectSuccess(1, RECV);
      assertThat(into.getLong(HEADER)).isEqualTo(100 + i);
    }
  }

  @Test
  void losesAMessageWithAnotherQueueKey() {
    UnreliablePath path = path();
    path.postReceive(1, 8);

    path.send(path.to(Requests.send(2), TransitionAttributes.QUEUE_KEY ^ 1));
    path.send(path.to(Requests.sendWithImmediate(3, 30)));

    assertThat(path.server().received().expectSuccess(1, RECV).immediate()).isEqualTo(30);
    path.server().received().expectNothing();
  }

  @Test
  void sendsItsOwnQueueKeyWhereTheHighBitAsksForIt() {
    UnreliablePath path = path();
    path.postReceive(1, 0);

    path.send(path.to(Requests.send(2), 0x8000_0000));
    path.send(path.to(Requests.sendWithImmediate(3, 30)));

    assertThat(path.server().received().expectSuccess(1, RECV).hasImmediate())
        .as("whether it was the second message that arrived")
        .isFalse();
  }

  @Test
  void takesAnotherQueueKeyOnceItIsChanged() {
    UnreliablePath path = path();
    path.postReceive(1, 0);

    path.server().queuePair().modify(new QueuePairAttributes().queueKey(77));
    path.send(path.to(Requests.send(2)));
    path.send(path.to(Requests.sendWithImmediate(3, 30), 77));

    assertThat(path.server().received().expectSuccess(1, RECV).immediate()).isEqualTo(30);
  }

  @Test
  void losesAMessageForAQueuePairThatIsNotThere() {
    UnreliablePath path = path();
    int gone = tck.setup().type(UD).byHand().server().queuePair().number();
    int connected = tck.setup().byHand().server().queuePair().number();

    path.send(
        Requests.send(1).to(path.requiredHandle(), 0xff_fff0, TransitionAttributes.QUEUE_KEY));
    path.send(
        Requests.send(2).to(path.requiredHandle(), connected, TransitionAttributes.QUEUE_KEY));
    path.send(Requests.send(3).to(path.requiredHandle(), gone, TransitionAttributes.QUEUE_KEY ^ 5));

    path.assertTakesTheNextMessage();
  }

  @Test
  void losesAMessageForAQueuePairThatIsNotReadyToReceive() {
    UnreliablePath path = path();
    Endpoint early = tck.setup().type(UD).endpointIn(QueuePairState.INIT);
    early.post(Requests.receive(1, early.memory(HEADER, LOCAL_WRITE)));
    AddressHandle handle = path.client().handleTo(early);

    path.send(
        Requests.send(2).to(handle, early.queuePair().number(), TransitionAttributes.QUEUE_KEY));

    early.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    early.received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void needsRoomForTheFortyBytes() {
    UnreliablePath path = path();
    TestMemory into = path.server().memory(HEADER - 1, LOCAL_WRITE);
    path.server().post(Requests.receive(1, into));

    path.send(path.to(Requests.send(2)));

    path.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    path.server().received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void carriesAWholeMtu() {
    UnreliablePath path = path();
    int mtu = tck.device().port().activeMtu().bytes();
    TestMemory into = path.postReceive(1, mtu);

    path.send(path.to(Requests.send(2, path.client().memory(mtu).fill(3))));

    assertThat(path.server().received().expectSuccess(1, RECV).byteLength())
        .isEqualTo(HEADER + mtu);
    into.part(HEADER, mtu).assertHolds(3);
  }

  @Test
  void neverCutsAMessageThatIsLargerThanTheMtu() {
    UnreliablePath path = path();
    int mtu = tck.device().port().activeMtu().bytes();
    TestMemory into = path.postReceive(1, 2 * mtu);
    SendWorkRequest request = path.to(Requests.send(2, path.client().memory(mtu + 1).fill(3)));

    try {
      path.client().post(request.signaled());
      WorkCompletion sent = path.client().sent().next();
      assertThat(sent.workRequestId()).isEqualTo(2);
      tck.observed("client's send: " + sent.status());
    } catch (PostException e) {
      assertThat(e.error()).isEqualTo(INVALID);
    }

    path.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    path.server().received().expectError(1, WR_FLUSH_ERR);
    into.assertUntouched();
  }

  @Test
  void carriesNothingAtAll() {
    UnreliablePath path = path();
    path.postReceive(1, 0);

    path.send(path.to(Requests.send(2)));

    assertThat(path.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(HEADER);
  }

  @Test
  void carriesInlineData() {
    if (isRefused(Capability.INLINE_DATA)) {
      return;
    }
    UnreliablePath path = path(tck.setup().inlineData(8));
    TestMemory into = path.postReceive(1, 8);
    ByteBuffer data = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(0, 5);

    path.send(path.to(new SendWorkRequest().id(2).send().inline(data)));

    path.server().received().expectSuccess(1, RECV);
    assertThat(into.getLong(HEADER)).isEqualTo(5);
  }

  @Test
  void putsTheFortyBytesAndTheMessageIntoPieces() {
    UnreliablePath path = path(tck.setup().scatterGather(2, 2));
    TestMemory header = path.server().memory(HEADER, LOCAL_WRITE);
    TestMemory into = path.server().memory(64, LOCAL_WRITE);
    TestMemory from = path.client().memory(64).fill(5);
    path.server().post(Requests.receive(1, header, into));

    path.send(path.to(Requests.send(2, from.part(0, 10), from.part(10, 54))));

    path.server().received().expectSuccess(1, RECV);
    into.assertHolds(5);
  }

  @Test
  void talksToItself() {
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
    UnreliablePath path = path();
    TestMemory into = path.client().memory(8, LOCAL_WRITE);
    TestMemory remote = path.server().open(8);
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
      SendWorkRequest addressed = path.to(request).signaled();
      expectBadPost(NOT_SUPPORTED, 7, () -> path.client().post(addressed));
    }

    assertThat(path.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    path.client().sent().expectNothing();
  }

  @Test
  void refusesAMessageWithoutAnAddress() {
    UnreliablePath path = path();

    expectBadPost(INVALID, 7, () -> path.client().post(Requests.send(7)));

    path.assertTakesTheNextMessage();
  }

  @Test
  void refusesAMessageToAnAddressThatIsClosed() {
    UnreliablePath path = path();
    path.requiredHandle().close();

    expectBadPost(INVALID, 7, () -> path.client().post(path.to(Requests.send(7))));
  }

  @Test
  void refusesANumberThatNoQueuePairHas() {
    UnreliablePath path = path();

    for (int number : new int[] {-1, 0x100_0000}) {
      SendWorkRequest request =
          Requests.send(7).to(path.requiredHandle(), number, TransitionAttributes.QUEUE_KEY);
      expectBadPost(INVALID, 7, () -> path.client().post(request));
    }
  }

  @Test
  void stopsOnlyItsSendQueueWhenItFailsItself() {
    UnreliablePath path = path();

    path.client().failOneOfItsSends();

    path.client().awaitState(QueuePairState.SQE);
    path.client().post(path.to(Requests.send(1)));
    path.client().sent().expectError(1, WR_FLUSH_ERR);
    path.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.RTS));
    path.assertTakesTheNextMessage();
  }

  @Test
  void receivesWhileItsSendQueueIsStopped() {
    UnreliablePath path = path();
    Endpoint server = path.server();
    server.failOneOfItsSends();
    server.awaitState(QueuePairState.SQE);

    path.assertTakesTheNextMessage();

    assertThat(server.queuePair().state()).isEqualTo(QueuePairState.SQE);
  }

  @Test
  void refusesAddressesThatAreOutOfRange() {
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
    UnreliablePath path = path();
    TestMemory into = path.postReceive(1, 0);
    path.send(path.to(Requests.send(2)));
    WorkCompletion received = path.server().received().expectSuccess(1, RECV);
    ProtectionDomain domain = path.server().domain();
    WorkCompletion other = new WorkCompletion();
    other.set(1, RECV, 40, 0, 5, 6, 0);

    expectFailure(INVALID, () -> domain.createAddressHandle(other, into.copy()));
    expectFailure(
        INVALID, () -> domain.createAddressHandle(received, into.copy().limit(HEADER - 1)));
    expectFailure(INVALID, () -> domain.createAddressHandle(received, ByteBuffer.allocate(HEADER)));
  }

  @Test
  void keepsItsDomainOpenWhileAnAddressHandleIs() {
    ProtectionDomain domain = tck.domain();
    AddressVector self = TransitionAttributes.wayTo(tck.device());
    AddressHandle handle = tck.own(domain.createAddressHandle(self));

    assertThat(handle.vector()).isEqualTo(self);
    assertThat(handle.protectionDomain()).isSameAs(domain);
    expectFailure(BUSY, domain::close);
    handle.close();
    handle.close();

    domain.close();
  }

  @Test
  void survivesThatAnAddressHandleIsClosedWhileItIsSentTo() throws InterruptedException {
    int rounds = tck.iterations(10_000);
    UnreliablePath path = path();
    Endpoint client = path.client();
    AddressVector way = TransitionAttributes.wayTo(path.server().device());
    int number = path.server().queuePair().number();
    AtomicReference<AddressHandle> now = new AtomicReference<>(path.requiredHandle());

    new Parallel()
        .thread(
            () -> {
              for (int id = 0; id < rounds; id++) {
                if (isPosted(client, id, now.get(), number)) {
                  // A device may look up the handle later, and fail if it is closed then.
                  assertThat(client.sent().next().workRequestId()).isEqualTo(id);
                }
              }
            })
        .thread(
            () -> {
              for (int i = 0; i < rounds; i++) {
                now.getAndSet(client.domain().createAddressHandle(way)).close();
              }
            })
        .run(tck.timeout().multipliedBy(2));

    now.get().close();
  }

  private static boolean isPosted(Endpoint end, int id, AddressHandle handle, int number) {
    try {
      end.post(Requests.send(id).to(handle, number, TransitionAttributes.QUEUE_KEY).signaled());
      return true;
    } catch (PostException closed) {
      assertThat(closed.error()).isEqualTo(INVALID);
      return false;
    }
  }

  @Test
  void takesEachMessageOnceWhenManySendAtOnce() throws InterruptedException {
    int senders = 4;
    int each = tck.iterations(1000);
    int receives = 4 * 64;
    UnreliablePath path = path(tck.setup().receives(receives));
    Endpoint server = path.server();
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
            assertThat(seen.get(message)).as("message %d was received before", message).isFalse();
            seen.set(message);
            server.post(Requests.receive(id, into.part(id * 64, HEADER + 8)));
            credits.release();
          }
        });
    parallel.run(tck.timeout().multipliedBy(2));

    assertThat(seen.cardinality()).isEqualTo(senders * each);
  }

  /** Sends messages, one per credit. A credit stands for a posted receive. */
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
