// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.RECV_RDMA_WITH_IMM;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.QueuePairType.UC;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Unreliable connections (UC): SEND and WRITE without acknowledgements. Messages that the peer
 * cannot take are lost without an error. An error of the requester itself stops only its send queue
 * (SQE).
 */
abstract class UnreliableConnectionTests extends UnreliableTransportTests {
  UnreliableConnectionTests(VerbsTck provider) {
    super(provider, UC);
  }

  @Override
  UnreliablePath path() {
    return new UnreliablePath(setup().byHand(), null);
  }

  @Override
  void awaitDelivery(UnreliablePath path) {
    TestMemory mark = path.server().open(8);
    TestMemory from = path.client().memory(8).putLong(0, 1);
    path.client().post(Requests.write(60, mark, from).signaled());
    path.client().sent().expectSuccess(60, RDMA_WRITE);
    await("a WRITE behind the lost messages")
        .atMost(tck.timeout())
        .pollInSameThread()
        .until(() -> mark.getLong(0) == 1);
  }

  private EndpointSetup setup() {
    return tck.setup().type(UC);
  }

  @Test
  void deliversMessagesInOrder() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8 * 8);
    TestMemory into = pair.server().memory(8 * 8, LOCAL_WRITE);
    for (int id = 0; id < 8; id++) {
      pair.server().post(Requests.receive(id, into.part(id * 8, 8)));
    }

    for (int id = 0; id < 8; id++) {
      pair.client().post(Requests.send(id, from.part(id * 8, 8).putLong(0, 100 + id)).signaled());
    }

    for (int id = 0; id < 8; id++) {
      pair.client().sent().expectSuccess(id, SEND);
      assertThat(pair.server().received().expectSuccess(id, RECV).byteLength()).isEqualTo(8);
      assertThat(into.getLong(id * 8)).isEqualTo(100 + id);
    }
  }

  @Test
  void carriesMessagesOfManyPackets() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(20_000).fill(1);
    TestMemory into = pair.server().memory(20_000, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, into));

    pair.client().post(Requests.send(2, from).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(20_000);
    into.assertHolds(1);
  }

  @Test
  void writesWithoutTheReceiversKnowledge() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(64).fill(3);
    TestMemory remote = pair.server().open(64);
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.write(2, remote, from).signaled());
    pair.client().post(Requests.send(3).signaled());

    pair.client().sent().expectSuccess(2, RDMA_WRITE);
    pair.server().received().expectSuccess(1, RECV);
    remote.assertHolds(3);
  }

  @Test
  void writesWithAnImmediateThatTakesAReceive() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(64).fill(3);
    TestMemory remote = pair.server().open(64);
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.writeWithImmediate(2, 9, remote, from).signaled());

    pair.client().sent().expectSuccess(2, RDMA_WRITE);
    WorkCompletion received = pair.server().received().expectSuccess(1, RECV_RDMA_WITH_IMM);
    assertThat(received.immediate()).isEqualTo(9);
    assertThat(received.byteLength()).isEqualTo(64);
    remote.assertHolds(3);
  }

  @Test
  void refusesReadsAndAtomicsWhenTheyArePosted() {
    EndpointPair pair = setup().byHand();
    TestMemory into = pair.client().memory(8, LOCAL_WRITE);
    TestMemory remote = pair.server().open(8);
    List<SendWorkRequest> requests =
        List.of(
            Requests.read(7, remote, into),
            Requests.fetchAndAdd(7, remote, 1, into),
            Requests.compareAndSwap(7, remote, 0, 1, into));

    for (SendWorkRequest request : requests) {
      expectBadPost(NOT_SUPPORTED, 7, () -> pair.client().post(request.signaled()));
    }

    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    pair.client().sent().expectNothing();
    remote.assertUntouched();
  }

  @Test
  void losesAWriteWithImmediateForWhichThereIsNoReceive() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8).putLong(0, 1);
    TestMemory remote = pair.server().open(8);
    pair.client().post(Requests.writeWithImmediate(1, 9, remote, from).signaled());
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    UnreliablePath path = new UnreliablePath(pair, null);
    awaitDelivery(path);

    path.assertTakesTheNextMessage();
    remote.assertUntouched();
  }

  @Test
  void losesAMessageForAPeerThatIsNotReadyToReceive() {
    EndpointPair pair = setup().byHandWithServerIn(QueuePairState.INIT);
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.send(2).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    pair.server().received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void losesMessagesForAPeerThatIsGone() {
    EndpointPair pair = setup().byHand();
    pair.server().queuePair().close();

    for (int id = 0; id < 40; id++) {
      pair.client().post(Requests.send(id).signaled());
      pair.client().sent().expectSuccess(id, SEND);
    }

    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void dropsAWriteWithAWrongKeyAndGoesOn() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8).fill(1);
    TestMemory remote = pair.server().open(8);

    SendWorkRequest wrong = new SendWorkRequest().id(1).write(remote.address(), remote.rkey() ^ 1);
    drops(pair, wrong.buffer(from.address(), 8, from.lkey()), remote);
    tck.expectNoEvent(pair.server().device());
  }

  @Test
  void dropsAWriteBeyondTheRegionAndGoesOn() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(16).fill(1);
    TestMemory remote = pair.server().open(8);

    drops(pair, Requests.write(1, remote, from), remote);
  }

  @Test
  void dropsAWriteThatTheRegionDoesNotAllow() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8).fill(1);
    TestMemory remote = pair.server().memory(8, LOCAL_WRITE, REMOTE_READ);

    drops(pair, Requests.write(1, remote, from), remote);
  }

  @Test
  void dropsAWriteThatTheQueuePairDoesNotAllow() {
    EndpointPair pair = setup().access().byHand();
    TestMemory from = pair.client().memory(8).fill(1);
    TestMemory remote = pair.server().memory(8, LOCAL_WRITE, REMOTE_WRITE);

    drops(pair, Requests.write(1, remote, from), remote);
  }

  @Test
  void keepsTheReceiveOfAWriteWithImmediateThatItDrops() {
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(16).fill(1);
    TestMemory remote = pair.server().open(8);
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.writeWithImmediate(2, 9, remote, from).signaled());
    pair.client().post(Requests.sendWithImmediate(3, 10).signaled());

    pair.client().sent().expectSuccess(2, RDMA_WRITE);
    pair.client().sent().expectSuccess(3, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).immediate()).isEqualTo(10);
    remote.assertUntouched();
  }

  @Test
  void takesTheNextMessageWhateverItsSequenceNumber() {
    EndpointPair pair = setup().clientPsn(0x10_0000, 0x00_0007).byHand();

    takesTheNextMessage(pair);
  }

  @Test
  void takesNothingFromAQueuePairThatItIsNotConnectedTo() {
    EndpointPair pair = setup().byHand();
    EndpointPair other = tck.setup().type(UC).byHandWithServerIn(QueuePairState.INIT);
    other
        .server()
        .queuePair()
        .modify(
            TransitionAttributes.toReadyToReceive(
                UC,
                other.server().device(),
                pair.client().device(),
                pair.client().queuePair().number(),
                7));
    other.server().post(Requests.receive(1));

    other.client().post(Requests.send(2).signaled());

    other.client().sent().expectSuccess(2, SEND);
    other.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    other.server().received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void stopsOnlyItsSendQueueWhenItFailsItself() {
    EndpointPair pair = setup().byHand();

    pair.client().failOneOfItsSends();

    pair.client().awaitState(QueuePairState.SQE);
    pair.client().post(Requests.send(1));
    pair.client().sent().expectError(1, WR_FLUSH_ERR);
    takesTheNextMessage(pair.reversed());
  }

  @Test
  void sendsAgainOnceItsSendErrorIsMended() {
    EndpointPair pair = setup().byHand();
    pair.client().failOneOfItsSends();
    pair.client().awaitState(QueuePairState.SQE);

    pair.client()
        .queuePair()
        .modify(
            new QueuePairAttributes().state(QueuePairState.RTS).currentState(QueuePairState.SQE));

    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    takesTheNextMessage(pair);
  }

  @Test
  void failsItselfEvenWhenNobodyListens() {
    EndpointPair pair = setup().byHand();
    pair.server().queuePair().close();

    pair.client().failOneOfItsSends();
  }

  @Test
  void flushesWhatIsPendingInError() {
    EndpointPair pair = setup().byHand();
    pair.server().post(Requests.receive(1));
    pair.server().post(Requests.receive(2));

    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    pair.server().post(Requests.send(3));

    pair.server().received().expectError(1, WR_FLUSH_ERR);
    pair.server().received().expectError(2, WR_FLUSH_ERR);
    pair.server().sent().expectError(3, WR_FLUSH_ERR);
  }

  @Test
  void holdsTheSlotsOfUnsignaledSendsUntilALaterCompletion() {
    EndpointPair pair = setup().sends(4).byHand();
    int most = pair.client().queuePair().capabilities().maxSend();
    for (int id = 0; id + 1 < most; id++) {
      pair.client().post(Requests.nothing(id));
    }
    pair.client().post(Requests.nothing(100).signaled());
    expectBadPost(NO_MEMORY, 101, () -> pair.client().post(Requests.nothing(101)));

    pair.client().sent().expectSuccess(100, RDMA_WRITE);

    pair.client().post(Requests.nothing(102).signaled());
    pair.client().sent().expectSuccess(102, RDMA_WRITE);
  }

  /** Asserts that the peer drops a WRITE without any effect and takes the next message. */
  private static void drops(EndpointPair pair, SendWorkRequest write, TestMemory remote) {
    pair.client().post(write.signaled());
    pair.client().sent().expectSuccess(write.id(), RDMA_WRITE);
    takesTheNextMessage(pair);
    remote.assertUntouched();
  }

  private static void takesTheNextMessage(EndpointPair pair) {
    new UnreliablePath(pair, null).assertTakesTheNextMessage();
  }
}
