// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.SecondThread;
import java.util.Queue;
import org.jctools.queues.varhandle.SpscVarHandleArrayQueue;

/** The limit of passing small messages on: an SPSC queue, messages written in place. */
public final class SpscOneWay implements OneWay {
  private static final int CAPACITY = 1024;

  // A slot is free once it has left the queue and the consumer has asked for another one.
  private static final int SLOTS = 2 * CAPACITY;

  private final int size;
  private final Slot[] slots;
  private final Queue<Slot> queue = new SpscVarHandleArrayQueue<>(CAPACITY);
  private final SecondThread second = new SecondThread();

  public SpscOneWay(int size) {
    this.size = size;
    this.slots = Slot.slots(Slot.memory(size, SLOTS), size, SLOTS);
  }

  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    second.together(
        spin -> {
          for (long i = 0; i < messages; i++) {
            Slot slot;
            while ((slot = queue.poll()) == null) {
              spin.spin();
            }
            check.accept(slot.view, size);
          }
        },
        spin -> {
          for (long i = 0; i < messages; i++) {
            Slot slot = slots[(int) i & (SLOTS - 1)];
            source.next(slot.view);
            while (!queue.offer(slot)) {
              spin.spin();
            }
          }
        },
        deadline);
  }

  @Override
  public void close() {
    second.close();
  }
}
