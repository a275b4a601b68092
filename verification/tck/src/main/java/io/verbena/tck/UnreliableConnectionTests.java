package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.RECV_RDMA_WITH_IMM;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Unreliable connections: SEND and WRITE without acknowledgement. What the peer does not take is
 * lost without a word to anybody; what the requester does wrong itself stops its send queue only
 * (SQE).
 */
abstract class UnreliableConnectionTests extends VerbsTests {
  private boolean refused;

  UnreliableConnectionTests(VerbsTck provider) {
    super(provider);
  }

  @BeforeEach
  void needsUnreliableConnections() {
    refused = isRefused(UC);
  }

  private EndpointSetup setup() {
    return tck.setup().type(UC);
  }

  @Test
  void deliversMessagesInOrder() {
    if (refused) {
      return;
    }
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
    if (refused) {
      return;
    }
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
  void carriesImmediates() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.sendWithImmediate(2, 0x1234_5678).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    WorkCompletion received = pair.server().received().expectSuccess(1, RECV);
    assertThat(received.hasImmediate()).isTrue();
    assertThat(received.immediate()).isEqualTo(0x1234_5678);
  }

  @Test
  void writesWithoutTheReceiversKnowledge() {
    if (refused) {
      return;
    }
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
    if (refused) {
      return;
    }
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
    if (refused) {
      return;
    }
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
  void losesAMessageForWhichThereIsNoReceive() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8).putLong(0, 1);
    pair.client().post(Requests.send(1, from).signaled());
    pair.client().sent().expectSuccess(1, SEND);
    awaitAllBefore(pair);

    assertTakesTheNextMessage(pair);
  }

  @Test
  void losesAWriteWithImmediateForWhichThereIsNoReceive() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8).putLong(0, 1);
    TestMemory remote = pair.server().open(8);
    pair.client().post(Requests.writeWithImmediate(1, 9, remote, from).signaled());
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    awaitAllBefore(pair);

    assertTakesTheNextMessage(pair);
    remote.assertUntouched();
  }

  @Test
  void losesAMessageForAPeerThatIsNotReadyToReceive() {
    if (refused) {
      return;
    }
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
    if (refused) {
      return;
    }
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
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8).fill(1);
    TestMemory remote = pair.server().open(8);

    SendWorkRequest wrong = new SendWorkRequest().id(1).write(remote.address(), remote.rkey() ^ 1);
    pair.client().post(wrong.buffer(from.address(), 8, from.lkey()).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    assertTakesTheNextMessage(pair);
    remote.assertUntouched();
    tck.expectNoEvent(pair.server().device());
  }

  @Test
  void dropsAWriteBeyondTheRegionAndGoesOn() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(16).fill(1);
    TestMemory remote = pair.server().open(8);

    pair.client().post(Requests.write(1, remote, from).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    assertTakesTheNextMessage(pair);
    remote.assertUntouched();
  }

  @Test
  void dropsAWriteThatTheRegionDoesNotAllow() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8).fill(1);
    TestMemory remote = pair.server().memory(8, LOCAL_WRITE, REMOTE_READ);

    pair.client().post(Requests.write(1, remote, from).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    assertTakesTheNextMessage(pair);
    remote.assertUntouched();
  }

  @Test
  void dropsAWriteThatTheQueuePairDoesNotAllow() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().access().byHand();
    TestMemory from = pair.client().memory(8).fill(1);
    TestMemory remote = pair.server().memory(8, LOCAL_WRITE, REMOTE_WRITE);

    pair.client().post(Requests.write(1, remote, from).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    assertTakesTheNextMessage(pair);
    remote.assertUntouched();
  }

  @Test
  void keepsTheReceiveOfAWriteWithImmediateThatItDrops() {
    if (refused) {
      return;
    }
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
  void keepsTheReceiveOfAMessageThatIsTooLargeForIt() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(16).fill(1);
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, into));

    pair.client().post(Requests.send(2, from).signaled());
    pair.client().post(Requests.send(3, from.part(0, 8)).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    pair.client().sent().expectSuccess(3, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(8);
    into.assertHolds(1);
    assertThat(pair.server().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void stopsAtAReceiveThatMayNotBeWritten() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    TestMemory from = pair.client().memory(8).fill(1);
    pair.server().post(Requests.receive(1, pair.server().memory(8)));

    pair.client().post(Requests.send(2, from).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    pair.server().received().expectError(1, LOC_PROT_ERR);
    pair.server().awaitState(QueuePairState.ERR);
    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void takesTheNextMessageWhateverItsSequenceNumber() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().clientPsn(0x10_0000, 0x00_0007).byHand();

    assertTakesTheNextMessage(pair);
  }

  @Test
  void takesNothingFromAQueuePairThatItIsNotConnectedTo() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    EndpointPair other = tck.setup().type(UC).byHandWithServerIn(QueuePairState.INIT);
    other
        .server()
        .queuePair()
        .modify(
            TransitionAttributes.toReadyToReceive(
                UC,
                other.server().device(),
                pair.client().device().port().gids().get(0),
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
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();

    pair.client().failOneOfItsSends();

    pair.client().awaitState(QueuePairState.SQE);
    pair.client().post(Requests.send(1));
    pair.client().sent().expectError(1, WR_FLUSH_ERR);
    assertTakesTheNextMessage(pair.reversed());
  }

  @Test
  void sendsAgainOnceItsSendErrorIsMended() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    pair.client().failOneOfItsSends();
    pair.client().awaitState(QueuePairState.SQE);

    pair.client()
        .queuePair()
        .modify(
            new QueuePairAttributes().state(QueuePairState.RTS).currentState(QueuePairState.SQE));

    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    assertTakesTheNextMessage(pair);
  }

  @Test
  void failsItselfEvenWhenNobodyListens() {
    if (refused) {
      return;
    }
    EndpointPair pair = setup().byHand();
    pair.server().queuePair().close();

    pair.client().failOneOfItsSends();
  }

  @Test
  void flushesWhatIsPendingInError() {
    if (refused) {
      return;
    }
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
    if (refused) {
      return;
    }
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

  /**
   * Waits until the peer has seen, and lost, all that was sent: until it holds what comes after.
   */
  private void awaitAllBefore(EndpointPair pair) {
    TestMemory mark = pair.server().open(8);
    pair.client().post(Requests.write(60, mark, pair.client().memory(8).putLong(0, 1)).signaled());
    pair.client().sent().expectSuccess(60, RDMA_WRITE);
    await("a mark behind what was lost")
        .atMost(tck.patience())
        .pollInSameThread()
        .until(() -> mark.getLong(0) == 1);
  }

  /** Of what came before, nothing arrives any more; the message after it does. */
  private static void assertTakesTheNextMessage(EndpointPair pair) {
    TestMemory from = pair.client().memory(8).putLong(0, 4711);
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);
    pair.server().post(Requests.receive(50, into));
    pair.client().post(Requests.send(51, from).signaled());
    pair.client().sent().expectSuccess(51, SEND);
    pair.server().received().expectSuccess(50, RECV);
    assertThat(into.getLong(0)).isEqualTo(4711);
    pair.server().received().expectNothing();
  }
}
