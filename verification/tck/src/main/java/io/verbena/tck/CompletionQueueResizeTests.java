// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Capability.COMPLETION_QUEUE_RESIZE;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Resizing completion queues: no completion is lost, duplicated or reordered. */
abstract class CompletionQueueResizeTests extends VerbsTests {
  private static final int SMALL = 8;

  @RegisterExtension
  final RequiresSupport resizing =
      RequiresSupport.of(this, COMPLETION_QUEUE_RESIZE, this::refusesToResize);

  CompletionQueueResizeTests(VerbsTck provider) {
    super(provider);
  }

  private void refusesToResize() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(SMALL, null));
    expectFailure(NOT_SUPPORTED, () -> queue.resize(2 * SMALL));
  }

  @Test
  void isAsDeepAsAskedAtLeast() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(SMALL, null));

    for (int depth : new int[] {100, 1000, 1, 3}) {
      queue.resize(depth);

      assertThat(queue.depth()).isGreaterThanOrEqualTo(depth);
    }
  }

  @Test
  void holdsAsManyAsItsNewDepth() {
    Endpoint end = loopback(SMALL);
    CompletionQueue queue = end.sent().queue();

    queue.resize(8 * SMALL);

    int depth = queue.depth();
    post(end.queuePair(), 1, depth);
    expect(end, 1, depth);
    assertThat(end.queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void holdsNoMoreThanItsNewDepth() throws InterruptedException {
    Endpoint end = loopback(64 * SMALL);
    CompletionQueue queue = end.sent().queue();
    post(end.queuePair(), 1, 3);
    expect(end, 1, 3);

    queue.resize(SMALL);

    post(end.queuePair(), 4, queue.depth() + 1);
    AsyncEvent event = tck.device().awaitAsyncEvent(tck.timeout().toNanos());
    assertThat(Objects.requireNonNull(event, "event").type()).isEqualTo(AsyncEvent.Type.CQ_ERR);
    end.awaitState(QueuePairState.ERR);
  }

  @Test
  void keepsWhatItHoldsAndTheOrder() {
    Endpoint end = loopback(SMALL);
    CompletionQueue queue = end.sent().queue();
    int next = 1;
    int oldest = 1;
    for (int depth : new int[] {64, 16, 256, 12, 1024, 5}) {
      post(end.queuePair(), next, 4);
      next += 4;
      expect(end, oldest, 1);
      oldest++;

      queue.resize(Math.max(depth, next - oldest + 1));

      post(end.queuePair(), next, 1);
      next++;
      expect(end, oldest, 2);
      oldest += 2;
    }
    expect(end, oldest, next - oldest);
    end.sent().expectNothing();
  }

  @Test
  void shrinksToWhatItHolds() {
    Endpoint end = loopback(64 * SMALL);
    post(end.queuePair(), 1, 5);
    awaitLast(end, 5);

    end.sent().queue().resize(5);

    expect(end, 1, 5);
  }

  @Test
  void namesWhatItHoldsWhenItIsToShrinkBelow() {
    Endpoint end = loopback(64 * SMALL);
    post(end.queuePair(), 1, 5);
    awaitLast(end, 5);
    CompletionQueue queue = end.sent().queue();
    int before = queue.depth();

    expectFailure(INVALID, () -> queue.resize(4));

    assertThat(queue.depth()).isEqualTo(before);
    expect(end, 1, 5);
  }

  @Test
  void refusesADepthOutOfRange() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(SMALL, null));

    for (int depth : new int[] {Integer.MIN_VALUE, -1, 0}) {
      assertThat(expectFailure(INVALID, "a depth of " + depth, () -> queue.resize(depth)))
          .hasMessageContaining(Integer.toString(depth))
          .hasMessageContaining(Integer.toString(tck.attributes().maxCompletions()));
    }
  }

  @Test
  void refusesAQueueThatIsClosed() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(SMALL, null));
    queue.close();

    expectFailure(CLOSED, () -> queue.resize(2 * SMALL));
  }

  @Test
  void wakesASleeperAsBefore() throws InterruptedException {
    EndpointPair pair = tck.setup().channel().connected();
    CompletionQueue queue = pair.client().sent().queue();
    queue.arm(false);

    queue.resize(queue.depth() + 100);
    pair.client().post(Requests.nothing(1).signaled());

    assertThat(pair.client().events().await(tck.timeout().toNanos())).isSameAs(queue);
    queue.acknowledgeEvents(1);
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void losesNothingWhileProducersRun() throws InterruptedException {
    Endpoint end = loopback(512);
    QueuePair pair = end.queuePair();
    CompletionQueue queue = end.sent().queue();
    int total = tck.iterations(20_000);
    boolean[] done = new boolean[1];
    new Parallel()
        .thread(
            () -> {
              SendWorkRequest request = Requests.nothing(0).signaled();
              WorkCompletion[] some = WorkCompletion.array(16);
              long posted = 0;
              long completed = 0;
              Deadline deadline = Deadline.in(tck.timeout());
              while (completed < total) {
                while (posted < total && posted - completed < 256) {
                  pair.postSend(request.id(posted++));
                }
                int count = queue.poll(some);
                for (int i = 0; i < count; i++) {
                  assertThat(some[i].workRequestId()).isEqualTo(completed++);
                }
                assertThat(deadline.isOver()).as("after %d of %d", completed, total).isFalse();
              }
              synchronized (done) {
                done[0] = true;
              }
            })
        .thread(
            () -> {
              Random random = new Random(7);
              while (!isOver(done)) {
                queue.resize(256 + random.nextInt(2000));
              }
            })
        .run(tck.timeout().multipliedBy(2));
    assertThat(pair.state()).isEqualTo(QueuePairState.RTS);
    end.sent().expectNothing();
  }

  private static boolean isOver(boolean[] done) {
    synchronized (done) {
      return done[0];
    }
  }

  /**
   * Creates an endpoint that is connected to itself and has a send completion queue of this depth.
   */
  private Endpoint loopback(int depth) {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(depth, null));
    return tck.setup()
        .sends(Math.max(1024, 2 * queue.depth()))
        .sendQueue(queue)
        .endpointIn(QueuePairState.RTS);
  }

  private static void post(QueuePair pair, int first, int count) {
    for (int i = 0; i < count; i++) {
      pair.postSend(Requests.nothing(first + i).signaled());
    }
  }

  private static void expect(Endpoint end, int first, int count) {
    for (int i = 0; i < count; i++) {
      end.sent().expectSuccess(first + i, RDMA_WRITE);
    }
  }

  /** Waits until all posted requests have completed, without polling their completion queue. */
  private void awaitLast(Endpoint end, int posted) {
    TestMemory into = end.open(8);
    TestMemory from = end.memory(8).fill(posted);
    end.post(Requests.write(0, into, from));
    await().atMost(tck.timeout()).until(() -> into.getByte(7) == TestMemory.pattern(posted, 7));
  }
}
