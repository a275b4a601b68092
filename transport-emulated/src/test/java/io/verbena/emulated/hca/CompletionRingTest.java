// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CompletionRingTest {
  private static void publish(CompletionRing ring, long entry, long id) {
    ring.publish(
        entry,
        new CompletionEntry()
            .ends(CompletionStatus.SUCCESS, CompletionOpcode.RECV_RDMA_WITH_IMM, Integer.MAX_VALUE)
            .carries(WorkCompletion.WITH_IMM, -2)
            .of(0xabcdef, 0xffff)
            .completes(id, id + 1));
  }

  @Test
  void keepsEveryFieldApart() {
    CompletionRing ring = new CompletionRing(1);
    publish(ring, ring.claim(), Long.MIN_VALUE);
    WorkCompletion completion = new WorkCompletion();

    ring.read(ring.at(0), completion);

    assertThat(completion.workRequestId()).isEqualTo(Long.MIN_VALUE);
    assertThat(completion.queuePairNumber()).isEqualTo(0xabcdef);
    assertThat(completion.opcode()).isEqualTo(CompletionOpcode.RECV_RDMA_WITH_IMM);
    assertThat(completion.byteLength()).isEqualTo(Integer.MAX_VALUE);
    assertThat(completion.immediate()).isEqualTo(-2);
    assertThat(completion.hasImmediate()).isTrue();
    assertThat(ring.attachment(ring.at(0))).isEqualTo(0xffff);
    assertThat(ring.isReceive(ring.at(0))).isTrue();
    assertThat(ring.frees(ring.at(0))).isEqualTo(Long.MIN_VALUE + 1);
  }

  @Test
  void overrunsExactlyAtItsDepth() {
    CompletionRing ring = new CompletionRing(3);
    for (int i = 0; i < 3; i++) {
      publish(ring, ring.claim(), i);
    }
    assertThat(ring.claim()).isEqualTo(CompletionRing.OVERRUN);

    ring.consumed(1);

    assertThat(ring.claim()).isEqualTo(3);
    assertThat(ring.claim()).isEqualTo(CompletionRing.OVERRUN);
  }

  @Test
  void losesAndDoublesNothingBetweenProducers() throws Exception {
    int producers = 3;
    int each = 200_000;
    CompletionRing ring = new CompletionRing(64);
    AtomicBoolean enough = new AtomicBoolean();
    AtomicLong total = new AtomicLong((long) producers * each);
    long[] ends = new long[producers];
    List<Thread> threads = new ArrayList<>();
    for (int p = 0; p < producers; p++) {
      int own = p;
      long first = (long) p * each;
      Thread thread =
          new Thread(
              () -> {
                int i = 0;
                for (; i < each && !enough.get(); i++) {
                  long entry = ring.claim();
                  for (int spins = 0; entry == CompletionRing.OVERRUN; spins++) {
                    Ownership.pause(spins);
                    entry = ring.claim();
                  }
                  publish(ring, entry, first + i);
                }
                ends[own] = first + i;
                total.addAndGet(i - each);
              });
      threads.add(thread);
      thread.start();
    }
    long[] next = {0, each, 2L * each};
    WorkCompletion completion = new WorkCompletion();
    // Limits the time, because on a busy machine each turn waits for a CPU.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    long last = System.nanoTime();
    int spins = 0;
    for (long position = 0; position < total.get(); ) {
      long now = System.nanoTime();
      if (now > end) {
        enough.set(true);
      }
      if (!ring.isPublished(position)) {
        assertThat(now).isLessThan(last + TimeUnit.SECONDS.toNanos(30));
        Ownership.pause(spins++);
        continue;
      }
      ring.read(ring.at(position), completion);
      ring.consumed(++position);
      last = now;
      spins = 0;
      int producer = (int) (completion.workRequestId() / each);
      assertThat(completion.workRequestId()).isEqualTo(next[producer]++);
    }
    for (Thread thread : threads) {
      thread.join(10_000);
    }
    assertThat(next).containsExactly(ends);
  }
}
