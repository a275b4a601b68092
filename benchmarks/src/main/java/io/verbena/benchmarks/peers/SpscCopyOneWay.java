// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.SecondThread;
import java.nio.ByteBuffer;
import java.util.Queue;
import org.jctools.queues.varhandle.SpscVarHandleArrayQueue;

/** The limit of large messages between threads: one copy into a shared slot, an SPSC queue. */
public final class SpscCopyOneWay implements OneWay {
  private static final int CAPACITY = 4;
  private static final int SLOTS = 2 * CAPACITY;

  private final int size;
  private final ByteBuffer from;
  private final ByteBuffer memory;
  private final Slot[] slots;
  private final Queue<Slot> queue = new SpscVarHandleArrayQueue<>(CAPACITY);
  private final SecondThread second = new SecondThread();

  public SpscCopyOneWay(int size) {
    this.size = size;
    this.from = DirectMemory.allocate(size);
    this.memory = Slot.memory(size, SLOTS);
    this.slots = Slot.slots(memory, size, SLOTS);
    new MessageSource(size).prepare(new ByteBufferView(from, 0));
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
            if (i == messages - 1) {
              check.whole(slot.view);
            }
          }
        },
        spin -> {
          ByteBufferView sent = new ByteBufferView(from, 0);
          for (long i = 0; i < messages; i++) {
            Slot slot = slots[(int) i & (SLOTS - 1)];
            source.next(sent);
            memory.put(slot.offset, from, 0, size);
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
