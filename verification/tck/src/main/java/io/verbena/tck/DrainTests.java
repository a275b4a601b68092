// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.AsyncEvent.Type.SQ_DRAINED;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.QueuePairState.RTS;
import static io.verbena.verbs.QueuePairState.SQD;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The send queue drained state (SQD): started requests finish, newly posted ones wait, and the
 * return to RTS resumes them.
 */
abstract class DrainTests extends VerbsTests {
  private static final int ATTEMPTS = 20;

  @RegisterExtension
  final RequiresSupport draining =
      RequiresSupport.of(this, Capability.SEND_QUEUE_DRAIN, this::assertRefused);

  DrainTests(VerbsTck provider) {
    super(provider);
  }

  private void assertRefused() {
    QueuePair queuePair = tck.setup().endpointIn(RTS).queuePair();
    expectFailure(NOT_SUPPORTED, () -> queuePair.modify(TransitionAttributes.toState(SQD)));
  }

  private static void drain(Endpoint end) {
    end.queuePair().modify(TransitionAttributes.toState(SQD).drainedNotify(true));
  }

  private static void resume(Endpoint end) {
    end.queuePair().modify(TransitionAttributes.toState(RTS));
  }

  /**
   * Drains a send queue in the middle of a message that finds no receive. An HCA that has not
   * started the message may report the queue as drained at once; the test then tries again. An HCA
   * with a thread of its own starts the message later, so the test waits for that if the device
   * counts RNR NAKs.
   */
  private void drainInTheMiddleOf(EndpointPair pair, SendWorkRequest message) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Long refusals = refusals(pair.client());
      pair.client().post(Requests.linked(Requests.nothing(90).signaled(), message.signaled()));
      pair.client().sent().expectSuccess(90, RDMA_WRITE);
      awaitRefusalAfter(refusals, pair.client());
      drain(pair.client());
      if (!tck.hasEvent(pair.client().device(), SQ_DRAINED, pair.client().queuePair())) {
        return;
      }
      resume(pair.client());
      finish(pair, message);
    }
    fail("the message was not begun before the queue was drained, in any of %s attempts", ATTEMPTS);
  }

  /**
   * Returns the number of RNR NAKs that a queue pair has received, or null if its device does not
   * count them.
   */
  private static @Nullable Long refusals(Endpoint end) {
    return end.queuePair().reading().figures().get(Figure.RNR_RECEIVED);
  }

  /** Waits for the RNR NAK that answers a message, if the device counts them. */
  private void awaitRefusalAfter(@Nullable Long before, Endpoint end) {
    Deadline deadline = Deadline.in(tck.timeout());
    while (before != null && before.equals(refusals(end))) {
      assertThat(deadline.isOver()).as("an RNR NAK is counted in time").isFalse();
      // A device with deferred execution may execute requests only when it is polled.
      end.sent().expectNothing();
      deadline.pause();
    }
  }

  /** Posts a receive for the message of a resumed queue and waits for it. */
  private static void finish(EndpointPair pair, SendWorkRequest message) {
    pair.server().post(Requests.receive(91, pair.server().memory(8, LOCAL_WRITE)));
    pair.client().post(Requests.nothing(92));
    pair.client().sent().expectSuccess(message.id(), SEND);
    pair.server().received().expectSuccess(91, RECV);
  }

  private void expectDrained(Endpoint end) {
    tck.expectEvent(end.device(), SQ_DRAINED, end.queuePair());
  }

  @Test
  void finishesWhatIsOutstandingBeforeItSaysThatItIsDrained() {
    EndpointPair pair = tck.setup().byHand();
    drainInTheMiddleOf(pair, Requests.send(1, pair.client().memory(8).fill(1)));

    pair.client().sent().expectNothing();
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);
    pair.server().post(Requests.receive(2, into));

    pair.client().sent().expectSuccess(1, SEND);
    expectDrained(pair.client());
    pair.server().received().expectSuccess(2, RECV);
    into.assertHolds(1);
    assertThat(pair.client().queuePair().state()).isEqualTo(SQD);
  }

  @Test
  void holdsWhatIsPostedAndSendsItInOrderAfterwards() {
    EndpointPair pair = tck.setup().byHand();
    TestMemory into = pair.server().memory(5 * 8, LOCAL_WRITE);
    for (int id = 0; id < 5; id++) {
      pair.server().post(Requests.receive(id, into.part(id * 8, 8)));
    }
    drain(pair.client());
    expectDrained(pair.client());
    TestMemory from = pair.client().memory(4 * 8);
    for (int id = 0; id < 4; id++) {
      pair.client().post(Requests.send(id, from.part(id * 8, 8).putLong(0, 10 + id)).signaled());
    }
    pair.client().sent().expectNothing();
    pair.server().received().expectNothing();

    resume(pair.client());
    pair.client().post(Requests.send(4, pair.client().memory(8).putLong(0, 14)).signaled());

    for (int id = 0; id < 5; id++) {
      pair.client().sent().expectSuccess(id, SEND);
      pair.server().received().expectSuccess(id, RECV);
      assertThat(into.getLong(id * 8)).isEqualTo(10 + id);
    }
  }

  @Test
  void holdsWhatIsPostedBehindWhatIsStillOutstanding() {
    EndpointPair pair = tck.setup().byHand();
    drainInTheMiddleOf(pair, Requests.send(1));
    pair.client().post(Requests.send(2).signaled());
    pair.server().post(Requests.receive(11));
    pair.server().post(Requests.receive(12));

    pair.client().sent().expectSuccess(1, SEND);
    expectDrained(pair.client());
    pair.client().sent().expectNothing();
    resume(pair.client());
    pair.client().post(Requests.nothing(3).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    pair.client().sent().expectSuccess(3, RDMA_WRITE);
  }

  @Test
  void saysThatItIsDrainedEachTimeItIsAsked() {
    Endpoint end = tck.setup().endpointIn(RTS);
    for (int round = 0; round < 3; round++) {
      drain(end);
      expectDrained(end);
      resume(end);
      end.post(Requests.nothing(round).signaled());
      end.sent().expectSuccess(round, RDMA_WRITE);
    }
  }

  @Test
  void saysNothingIfItWasNotAsked() {
    Endpoint end = tck.setup().endpointIn(RTS);
    drain(end);
    expectDrained(end);
    resume(end);

    end.queuePair().modify(TransitionAttributes.toState(SQD));

    tck.expectNoEvent(end.device());
  }

  @Test
  void cannotBeLeftWhileItDrains() {
    EndpointPair pair = tck.setup().byHand();
    SendWorkRequest message = Requests.send(1);
    drainInTheMiddleOf(pair, message);
    for (int attempt = 0; !isRefusedToGoOn(pair); attempt++) {
      assertThat(attempt).as("attempts that drained too early").isLessThan(ATTEMPTS);
      finish(pair, message);
      drainInTheMiddleOf(pair, message);
    }

    assertThat(pair.client().queuePair().state()).isEqualTo(SQD);
    pair.server().post(Requests.receive(2));
    expectDrained(pair.client());
    resume(pair.client());
  }

  /**
   * Returns whether a queue pair is refused the transition out of SQD. If it is not, it must have
   * reported SQ_DRAINED. Another test covers a report that comes too early, as from Soft-RoCE
   * during a retry after an RNR NAK.
   */
  private boolean isRefusedToGoOn(EndpointPair pair) {
    try {
      resume(pair.client());
    } catch (VerbsException e) {
      assertThat(e.error()).isEqualTo(INVALID);
      return true;
    }
    expectDrained(pair.client());
    return false;
  }

  @Test
  void letsAttributesBeChangedThatRunningOnesMayNot() {
    Endpoint end = tck.setup().endpointIn(RTS);
    QueuePairAttributes change =
        new QueuePairAttributes()
            .access(EnumSet.of(Access.REMOTE_WRITE))
            .timeout(10)
            .retryCount(3)
            .rnrRetry(2)
            .minRnrTimer(5);
    expectFailure(INVALID, () -> end.queuePair().modify(change));
    drain(end);
    expectDrained(end);

    end.queuePair().modify(change.state(SQD));
    resume(end);

    QueuePairAttributes now = end.queuePair().query();
    assertThat(now.access()).isEqualTo(EnumSet.of(Access.REMOTE_WRITE));
    assertThat(now.timeout()).isEqualTo(10);
    assertThat(now.retryCount()).isEqualTo(3);
    assertThat(now.rnrRetry()).isEqualTo(2);
    assertThat(now.minRnrTimer()).isEqualTo(5);
  }

  @Test
  void servesItsPeerAllTheWhile() {
    EndpointPair pair = tck.setup().byHand();
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);
    TestMemory remote = pair.server().open(8);
    pair.server().post(Requests.receive(1, into));
    drain(pair.server());
    expectDrained(pair.server());

    pair.client().post(Requests.send(2, pair.client().memory(8).fill(4)).signaled());
    pair.client().post(Requests.write(3, remote, pair.client().memory(8).fill(5)).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    pair.client().sent().expectSuccess(3, RDMA_WRITE);
    pair.server().received().expectSuccess(1, RECV);
    into.assertHolds(4);
    remote.assertHolds(5);
  }

  @Test
  void isFullWhenAllThatItHoldsIsPosted() {
    Endpoint end = tck.setup().sends(4).endpointIn(RTS);
    drain(end);
    expectDrained(end);
    int most = end.queuePair().capabilities().maxSend();
    for (int id = 0; id < most; id++) {
      end.post(Requests.nothing(id));
    }

    expectBadPost(NO_MEMORY, 99, () -> end.post(Requests.nothing(99)));
  }

  @Test
  void flushesWhatItHoldsInError() {
    Endpoint end = tck.setup().endpointIn(RTS);
    drain(end);
    expectDrained(end);
    end.post(Requests.nothing(1));
    end.post(Requests.nothing(2).signaled());

    end.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    end.sent().expectError(1, WR_FLUSH_ERR);
    end.sent().expectError(2, WR_FLUSH_ERR);
    tck.expectNoEvent(end.device());
  }

  @Test
  void forgetsWhatItHoldsWithAReset() {
    Endpoint end = tck.setup().endpointIn(RTS);
    drain(end);
    expectDrained(end);
    end.post(Requests.nothing(1).signaled());

    end.queuePair().modify(TransitionAttributes.toState(QueuePairState.RESET));

    end.sent().expectNothing();
  }

  @Test
  void holdsWhatUnreliableQueuePairsPost() {
    if (isRefused(QueuePairType.UC)) {
      return;
    }
    EndpointPair pair = tck.setup().type(QueuePairType.UC).byHand();
    pair.server().post(Requests.receive(1));
    drain(pair.client());
    expectDrained(pair.client());

    pair.client().post(Requests.send(2).signaled());
    pair.client().sent().expectNothing();
    pair.server().received().expectNothing();
    resume(pair.client());
    pair.client().post(Requests.nothing(3));

    pair.client().sent().expectSuccess(2, SEND);
    pair.server().received().expectSuccess(1, RECV);
  }

  @Test
  void holdsDatagrams() {
    if (isRefused(QueuePairType.UD)) {
      return;
    }
    Endpoint end = tck.setup().type(QueuePairType.UD).endpointIn(RTS);
    end.post(Requests.receive(1, end.memory(40, LOCAL_WRITE)));
    drain(end);
    expectDrained(end);

    end.post(
        Requests.send(2)
            .to(end.handleTo(end), end.queuePair().number(), TransitionAttributes.QUEUE_KEY)
            .signaled());
    end.sent().expectNothing();
    end.received().expectNothing();
    resume(end);
    end.post(
        Requests.send(3)
            .to(end.handleTo(end), end.queuePair().number(), TransitionAttributes.QUEUE_KEY));

    end.sent().expectSuccess(2, SEND);
    end.received().expectSuccess(1, RECV);
  }
}
