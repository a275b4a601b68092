// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GrowingQueueTest {
  private static final int DEPTH = 4096;

  private final EmulatedDevice device =
      (EmulatedDevice) new EmulatedProvider().open(URI.create("emulated://growing"));
  private final ProtectionDomain domain = device.allocateProtectionDomain();

  @AfterEach
  void close() {
    domain.close();
    device.close();
  }

  private static void publish(EmulatedCompletionQueue queue, CompletionEntry entry, long id) {
    long position = queue.claim();
    for (int spins = 0; position == CompletionRing.OVERRUN; spins++) {
      Ownership.pause(spins);
      position = queue.claim();
    }
    queue.publish(
        position,
        entry.ends(CompletionStatus.SUCCESS, CompletionOpcode.SEND, 0).of(0, 0).completes(id, 0));
  }

  @Test
  void losesAndDoublesNoCompletionWhileItGrows() throws Exception {
    for (int round = 0; round < 200; round++) {
      EmulatedCompletionQueue queue =
          (EmulatedCompletionQueue) device.createCompletionQueue(DEPTH, null);
      // Both work queues of the pair complete here, so that several producers claim entries.
      QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));
      takeFromThree(queue);
      pair.close();
      queue.close();
    }
  }

  private static void takeFromThree(EmulatedCompletionQueue queue) throws InterruptedException {
    int each = 2000;
    List<Thread> threads = new ArrayList<>();
    for (int p = 0; p < 3; p++) {
      long first = (long) p * each;
      threads.add(
          new Thread(
              () -> {
                CompletionEntry entry = new CompletionEntry();
                for (int i = 0; i < each; i++) {
                  publish(queue, entry, first + i);
                }
              }));
    }
    threads.forEach(Thread::start);
    long[] next = {0, each, 2L * each};
    WorkCompletion[] taken = WorkCompletion.array(8);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    for (int total = 0; total < 3 * each; ) {
      int count = queue.poll(taken);
      for (int i = 0; i < count; i++) {
        int producer = (int) (taken[i].workRequestId() / each);
        assertThat(taken[i].workRequestId()).isEqualTo(next[producer]++);
      }
      total += count;
      assertThat(System.nanoTime()).isLessThan(deadline);
    }
    for (Thread thread : threads) {
      thread.join(10_000);
    }
    assertThat(next).containsExactly(each, 2L * each, 3L * each);
    assertThat(queue.poll(taken)).isZero();
  }

  @Test
  void overrunsAtItsDepthHoweverSmallItBegan() {
    EmulatedCompletionQueue queue =
        (EmulatedCompletionQueue) device.createCompletionQueue(100, null);
    CompletionEntry entry = new CompletionEntry();
    for (int i = 0; i < 100; i++) {
      publish(queue, entry, i);
    }

    assertThat(queue.claim()).isEqualTo(CompletionRing.OVERRUN);
    queue.resize(101);
    publish(queue, entry, 100);
    assertThat(queue.claim()).isEqualTo(CompletionRing.OVERRUN);
    WorkCompletion[] taken = WorkCompletion.array(101);
    assertThat(queue.poll(taken)).isEqualTo(101);
    queue.close();
  }

  @Test
  void takesReceivesWithTheirBuffersInTheirOrderWhileItGrows() {
    ReceiveRing ring = new ReceiveRing(100, 2);
    ReceiveWorkRequest request = new ReceiveWorkRequest(2);
    long taken = 0;
    for (int id = 0; id < 300; id++) {
      request.id(id).buffer(id, 1, 1).buffers().add(id + 1, 2, id);
      ring.post(request);
      // Takes the receives in two of three rounds, and in the third only at the limit.
      long most = id % 3 == 0 ? 99 : ring.available() - 1;
      while (ring.available() > most) {
        assertThat(ring.hasNext()).isTrue();
        assertThat(ring.id()).isEqualTo(taken);
        assertThat(ring.totalLength()).isEqualTo(3);
        assertThat(ring.address(1)).isEqualTo(taken + 1);
        assertThat(ring.lkey(1)).isEqualTo((int) taken);
        taken = ring.take();
        ring.free(taken);
      }
    }
    assertThat(taken + ring.available()).isEqualTo(300);
  }
}
