// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Capability.COMPLETION_QUEUE_RESIZE;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletion;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Completion queues: depth, polling, overrun and closing. */
abstract class CompletionQueueTests extends VerbsTests {
  CompletionQueueTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void isAtLeastAsDeepAsAsked() {
    for (int depth : new int[] {1, 2, 3, 100, 1000}) {
      CompletionQueue queue = tck.own(tck.device().createCompletionQueue(depth, null));

      assertThat(queue.depth()).isGreaterThanOrEqualTo(depth);
      assertThat(queue.channel()).isNull();
    }
  }

  @Test
  void refusesADepthThatIsOutOfRange() {
    for (int depth : new int[] {Integer.MIN_VALUE, -1, 0, beyondMaxCompletions()}) {
      assertThat(
              expectFailure(
                  INVALID,
                  "a depth of " + depth,
                  () -> tck.own(tck.device().createCompletionQueue(depth, null))))
          .hasMessageContaining(Integer.toString(depth));
    }
  }

  @Test
  void answersNothingWhenItIsEmpty() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));

    assertThat(queue.poll(WorkCompletion.array(4))).isZero();
  }

  @Test
  void answersOldestFirstAndNoMoreThanFits() {
    EndpointPair pair = tck.connected();
    for (int id = 1; id <= 5; id++) {
      pair.client().post(Requests.nothing(id).signaled());
    }
    WorkCompletion[] two = WorkCompletion.array(2);
    CompletionQueue queue = pair.client().sent().queue();

    assertThat(queue.poll(WorkCompletion.array(0))).isZero();
    long last = 0;
    Deadline deadline = Deadline.in(tck.timeout());
    while (last < 5 && !deadline.isOver()) {
      int taken = queue.poll(two);
      assertThat(taken).isBetween(0, 2);
      for (int i = 0; i < taken; i++) {
        assertThat(two[i].workRequestId()).isEqualTo(++last);
      }
    }

    assertThat(last).as("completions within %s", tck.timeout()).isEqualTo(5);
    assertThat(queue.poll(two)).isZero();
  }

  @Test
  void isBusyWhileAQueuePairSendsIntoIt() {
    Endpoint end = tck.setup().endpoint();

    expectFailure(BUSY, end.sent().queue()::close);
  }

  @Test
  void isBusyWhileAQueuePairReceivesIntoIt() {
    Endpoint end = tck.setup().endpoint();

    expectFailure(BUSY, end.received().queue()::close);
  }

  @Test
  void isFreeOnceItsQueuePairIsClosed() {
    Endpoint end = tck.setup().endpoint();

    end.queuePair().close();

    end.sent().queue().close();
    end.received().queue().close();
  }

  @Test
  void mayBeClosedTwice() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));

    queue.close();
    queue.close();
  }

  @Test
  void takesNoQueuePairOnceItIsClosed() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
    ProtectionDomain domain = tck.domain();
    queue.close();

    expectFailure(
        CLOSED, () -> domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1)));
  }

  @Test
  void isNotPolledOnceItIsClosed() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
    queue.close();

    expectFailure(CLOSED, () -> queue.poll(WorkCompletion.array(1)));
  }

  @Test
  void holdsAsManyCompletionsAsItIsDeep() {
    Overrun overrun = new Overrun();

    for (int id = 1; id <= overrun.depth; id++) {
      overrun.queuePair.postSend(Requests.nothing(id).signaled());
    }

    for (int id = 1; id <= overrun.depth; id++) {
      overrun.completions.expectSuccess(id, RDMA_WRITE);
    }
    assertThat(overrun.queuePair.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void raisesAnEventAndStopsTheQueuePairWhenItOverruns() throws InterruptedException {
    Overrun overrun = new Overrun();

    for (int id = 1; id <= overrun.depth + 1; id++) {
      overrun.queuePair.postSend(Requests.nothing(id).signaled());
    }

    AsyncEvent event = tck.device().awaitAsyncEvent(tck.timeout().toNanos());
    assertThat(event).isNotNull();
    assertThat(Objects.requireNonNull(event).type()).isEqualTo(AsyncEvent.Type.CQ_ERR);
    assertThat(event.source()).isSameAs(overrun.completions.queue());
    overrun.end.awaitState(QueuePairState.ERR);
  }

  @Test
  void growsAndKeepsWhatItHolds() {
    if (!tck.supports(COMPLETION_QUEUE_RESIZE)) {
      CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
      expectFailure(NOT_SUPPORTED, () -> queue.resize(64));
      return;
    }
    Overrun overrun = new Overrun();
    int before = overrun.depth;
    for (int id = 1; id <= before; id++) {
      overrun.queuePair.postSend(Requests.nothing(id).signaled());
    }
    CompletionQueue queue = overrun.completions.queue();

    queue.resize(before + 8);

    assertThat(queue.depth()).isGreaterThanOrEqualTo(before + 8);
    for (int id = 1; id <= before; id++) {
      overrun.completions.expectSuccess(id, RDMA_WRITE);
    }
  }

  @Test
  void doesNotShrinkBelowWhatItHolds() {
    if (!tck.supports(COMPLETION_QUEUE_RESIZE)) {
      CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
      expectFailure(NOT_SUPPORTED, () -> queue.resize(1));
      return;
    }
    Endpoint end = tck.setup().oneQueue().endpointIn(QueuePairState.INIT);
    for (int id = 1; id <= 4; id++) {
      end.post(Requests.receive(id));
    }
    end.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    end.received().next();

    CompletionQueue queue = end.received().queue();
    expectFailure(INVALID, () -> queue.resize(1));
  }

  @Test
  void isNotResizedBeyondTheDevicesLimit() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
    boolean supported = tck.supports(COMPLETION_QUEUE_RESIZE);

    expectFailure(supported ? INVALID : NOT_SUPPORTED, () -> queue.resize(beyondMaxCompletions()));
    expectFailure(supported ? INVALID : NOT_SUPPORTED, () -> queue.resize(0));
  }

  private int beyondMaxCompletions() {
    int most = tck.attributes().maxCompletions();
    return most == Integer.MAX_VALUE ? Integer.MIN_VALUE + 1 : most + 1;
  }

  /**
   * A queue pair that is connected to itself and can post more requests than its completion queue
   * holds.
   */
  private final class Overrun {
    final int depth;
    final Endpoint end;
    final QueuePair queuePair;
    final CompletionPoller completions;

    Overrun() {
      CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
      CompletionQueue other = tck.own(tck.device().createCompletionQueue(4, null));
      depth = queue.depth();
      ProtectionDomain domain = tck.domain();
      queuePair =
          tck.own(domain.createQueuePair(QueuePairOptions.reliable(queue, other, depth + 1, 1)));
      completions = new CompletionPoller(queue, "send completion queue", tck);
      end = new Endpoint(tck, tck.device(), domain, null, completions, completions, queuePair);
      queuePair.modify(TransitionAttributes.toInit(tck.device(), tck.remoteAccess()));
      queuePair.modify(
          TransitionAttributes.toReadyToReceive(tck.device(), tck.device(), queuePair.number(), 1));
      queuePair.modify(TransitionAttributes.toReadyToSend(tck.device(), 1));
    }
  }
}
