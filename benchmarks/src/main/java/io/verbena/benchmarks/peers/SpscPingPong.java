// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.SecondThread;
import io.verbena.benchmarks.work.Spin;
import java.util.Queue;
import org.jctools.queues.varhandle.SpscVarHandleArrayQueue;

/** The limit of a round trip through two SPSC queues, with messages written in place. */
public final class SpscPingPong implements PingPong {
  private static final int SLOTS = 16;

  private final int size;
  private final Slot[] pings;
  private final Slot[] pongs;
  private final Queue<Slot> there = new SpscVarHandleArrayQueue<>(SLOTS / 2);
  private final Queue<Slot> back = new SpscVarHandleArrayQueue<>(SLOTS / 2);
  private final SecondThread second = new SecondThread();

  public SpscPingPong(int size) {
    this.size = size;
    this.pings = Slot.slots(Slot.memory(size, SLOTS), size, SLOTS);
    this.pongs = Slot.slots(Slot.memory(size, SLOTS), size, SLOTS);
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    second.together(
        spin -> {
          for (long i = 0; i < rounds; i++) {
            Slot out = pings[(int) i % SLOTS];
            ping.send(out.view);
            offer(there, out);
            ping.receive(take(back, spin).view, size);
          }
        },
        spin -> {
          for (long i = 0; i < rounds; i++) {
            pong.receive(take(there, spin).view, size);
            Slot out = pongs[(int) i % SLOTS];
            pong.send(out.view);
            offer(back, out);
          }
        },
        deadline);
  }

  private static void offer(Queue<Slot> queue, Slot slot) {
    if (!queue.offer(slot)) {
      throw new IllegalStateException("queue: full (expected: at most one message under way)");
    }
  }

  private static Slot take(Queue<Slot> queue, Spin spin) throws Exception {
    Slot slot;
    while ((slot = queue.poll()) == null) {
      spin.spin();
    }
    return slot;
  }

  @Override
  public void close() {
    second.close();
  }
}
