// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.verbena.emulated.hca.CompletionEntry;
import io.verbena.emulated.hca.EmulatedCompletionQueue;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.WorkCompletion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Queues that grow while other threads use them lose no entry, duplicate none and keep the order.
 */
public final class GrowthStress {
  private GrowthStress() {}

  /** Two producers find a completion queue full, and one of them enlarges it. */
  @JCStressTest
  @Outcome(id = "19, 1", expect = ACCEPTABLE, desc = "all are there, each producer's in order")
  @State
  public static class Completions {
    private static final EmulatedDevice DEVICE = Devices.open();
    private static final ProtectionDomain DOMAIN = DEVICE.allocateProtectionDomain();
    private static final int FILLED = 15;

    private final EmulatedCompletionQueue queue =
        (EmulatedCompletionQueue) DEVICE.createCompletionQueue(64, null);

    /** A queue pair with both completion queues here, so that claims expect several producers. */
    private final QueuePair pair =
        DOMAIN.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));

    private final WorkCompletion[] taken = WorkCompletion.array(64);
    private long lastOfFirst;
    private long lastOfSecond = 100;
    private int count;
    private int ordered = 1;

    /** Nearly fills the initial capacity of the queue. */
    public Completions() {
      publish(-FILLED, FILLED);
    }

    private void publish(int first, int more) {
      CompletionEntry entry = new CompletionEntry();
      for (int id = first; id < first + more; id++) {
        queue.publish(
            queue.claim(),
            entry
                .ends(CompletionStatus.SUCCESS, CompletionOpcode.SEND, 0)
                .of(0, 0)
                .completes(id, 0));
      }
    }

    private void take() {
      int polled = queue.poll(taken);
      for (int i = 0; i < polled; i++) {
        long id = taken[i].workRequestId();
        if (id > 100) {
          ordered = id == lastOfSecond + 1 ? ordered : 0;
          lastOfSecond = id;
        } else if (id > 0) {
          ordered = id == lastOfFirst + 1 ? ordered : 0;
          lastOfFirst = id;
        }
      }
      count += polled;
    }

    /** One producer. */
    @Actor
    public void first() {
      publish(1, 2);
    }

    /** Another producer, which is the consumer, too. */
    @Actor
    public void second() {
      publish(101, 1);
      take();
      publish(102, 1);
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      take();
      result.r1 = count;
      result.r2 = ordered;
      pair.close();
      queue.close();
    }
  }

  /** A program posts more receives than the queue can hold, while messages take posted ones. */
  @JCStressTest
  @Outcome(id = "6, 1", expect = ACCEPTABLE, desc = "all were taken, whole and in order")
  @State
  public static class Receives {
    private final ReceiveRing queue = new ReceiveRing(16, 1);
    private int taken;
    private int whole = 1;

    /** Fills the initial capacity of the queue. */
    public Receives() {
      post(0, 4);
    }

    private void post(int first, int more) {
      for (int id = first; id < first + more; id++) {
        queue.post(new ReceiveWorkRequest().id(id).buffer(4096 + id, 64, 1));
      }
    }

    private void take() {
      while (queue.hasNext()) {
        boolean same = queue.id() == taken && queue.address(0) == 4096 + taken;
        whole = same && queue.length(0) == 64 ? whole : 0;
        queue.take();
        taken++;
      }
    }

    /** The program posts receives. */
    @Actor
    public void post() {
      post(4, 2);
    }

    /** The sender takes receives. */
    @Actor
    public void send() {
      take();
    }

    /** Records the outcome after all actors. */
    @Arbiter
    public void look(II_Result result) {
      take();
      result.r1 = taken;
      result.r2 = whole;
    }
  }
}
