// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.SendWorkRequest;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** Messages allocate no memory. */
class AllocationTest {
  private static final int ROUNDS = 2_000;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Pair pair = Pair.reliable();
  private final Inbox toA = new Inbox();
  private final Inbox toB = new Inbox();

  /** Packets in flight, in frames that are reused. */
  private static final class Inbox implements OpenSink {
    private final RocePacket[] frames = new RocePacket[64];
    private int size;

    Inbox() {
      for (int i = 0; i < frames.length; i++) {
        frames[i] = new RocePacket();
      }
    }

    @Override
    public void send(RocePacket frame, AddressVector to) {
      frames[size++].copyFrom(frame.seal());
    }

    void deliverTo(End end) {
      for (int i = 0; i < size; i++) {
        end.engine.receive(frames[i]);
      }
      size = 0;
      end.run();
    }
  }

  private void round(SendWorkRequest first, SendWorkRequest second, SendWorkRequest third) {
    pair.a.queue(first);
    pair.a.queue(second);
    pair.a.queue(third);
    pair.a.run();
    while (toB.size + toA.size > 0) {
      toB.deliverTo(pair.b);
      toA.deliverTo(pair.a);
    }
  }

  private long bytesOfManyRounds() {
    // Unsignaled, because the test host allocates objects for completions.
    SendWorkRequest write =
        new SendWorkRequest()
            .write(pair.atB.address, pair.atB.key)
            .buffer(pair.atA.address, 5_000, pair.atA.key);
    SendWorkRequest read =
        new SendWorkRequest()
            .read(pair.atB.address, pair.atB.key)
            .buffer(pair.atA.address + 10_000, 5_000, pair.atA.key);
    SendWorkRequest atomic =
        new SendWorkRequest()
            .fetchAndAdd(pair.atB.address, pair.atB.key, 1)
            .buffer(pair.atA.address + 20_000, 8, pair.atA.key);
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < ROUNDS; i++) {
      round(write, read, atomic);
    }
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }

  @Test
  void costsNoGarbage() {
    pair.a.out = toB;
    pair.b.out = toA;
    long bytes = Long.MAX_VALUE;
    for (int attempt = 0; attempt < 10 && bytes >= ROUNDS; attempt++) {
      bytes = bytesOfManyRounds();
    }
    assertThat(pair.b.host.atomicsDone).isGreaterThanOrEqualTo(ROUNDS);
    assertThat(pair.a.host.sendsDone).isEmpty();
    assertThat(bytes).isLessThan(ROUNDS);
  }
}
