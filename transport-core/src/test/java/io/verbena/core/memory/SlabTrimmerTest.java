// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlabTrimmerTest {
  private static final int SLAB = 4 << 20;
  private static final int LENGTH = 12 << 10;

  private long now = Long.MAX_VALUE - SlabTrimmer.LOOK;
  private final RecordingDomain domain = new RecordingDomain();
  private final RegisteredMemory memory =
      new RegisteredMemory(domain, RdmaOptions.defaults(), DirectMemory.jvm(), () -> now);

  @AfterEach
  void close() {
    memory.close();
  }

  /** Lets time pass as the thread does that calls {@link RegisteredMemory#trim}. */
  private void pass(long nanos) {
    long end = now + nanos;
    while (now - end < 0) {
      long wait = memory.trim();
      assertThat(wait).isPositive();
      now += Math.min(wait, end - now);
    }
  }

  private List<ByteBuf> buffers(int slabs) {
    List<ByteBuf> buffers = new ArrayList<>();
    while (memory.registeredBytes() < (long) slabs * SLAB) {
      buffers.add(memory.allocator().directBuffer(LENGTH));
    }
    return buffers;
  }

  private static void release(List<ByteBuf> buffers) {
    buffers.forEach(ByteBuf::release);
    buffers.clear();
  }

  @Test
  void deregistersWhatNobodyHasNeededForSecondsButOneSlab() {
    release(buffers(8));

    pass(SlabTrimmer.LEAST_QUIET / 2);
    assertThat(memory.registeredBytes()).isEqualTo(8L * SLAB);

    pass(2 * SlabTrimmer.LEAST_QUIET);
    assertThat(memory.registeredBytes()).isEqualTo(SLAB);
    assertThat(domain.openBytes()).isEqualTo(SLAB);
  }

  @Test
  void keepsWhatIsInUseOrWasNeededMeanwhile() {
    List<ByteBuf> held = buffers(8);

    pass(10 * SlabTrimmer.LEAST_QUIET);
    assertThat(memory.registeredBytes()).isEqualTo(8L * SLAB);

    ByteBuf last = held.remove(held.size() - 1);
    release(held);
    pass(SlabTrimmer.LEAST_QUIET / 2);
    List<ByteBuf> again = buffers(9);
    release(again);
    pass(SlabTrimmer.LEAST_QUIET - SlabTrimmer.LOOK);
    assertThat(memory.registeredBytes()).isEqualTo(9L * SLAB);

    pass(2 * SlabTrimmer.LEAST_QUIET);
    assertThat(memory.registeredBytes()).isEqualTo(2L * SLAB);
    assertThat(memory.locate(last, 0, LENGTH, new Location())).isTrue();
    last.release();
  }

  @Test
  void deregistersFreeBuffersWithSlabsOfTheirOwn() {
    ByteBuf small = memory.allocator().directBuffer(LENGTH);
    memory.allocator().directBuffer(3 * SLAB).release();
    assertThat(memory.registeredBytes()).isGreaterThanOrEqualTo(4L * SLAB);

    pass(3 * SlabTrimmer.LEAST_QUIET);

    assertThat(memory.registeredBytes()).isEqualTo(SLAB);
    small.release();
  }

  @Test
  void waitsLongerIfTheSlabsAreNeededAgainEachTime() {
    int registered = domain.registrations();
    int rounds = 100;
    for (int i = 0; i < rounds; i++) {
      release(buffers(2));
      pass(3 * SlabTrimmer.LEAST_QUIET);
    }

    assertThat(domain.registrations() - registered).isBetween(2, rounds / 4);

    pass(2 * SlabTrimmer.MOST_QUIET);
    assertThat(memory.registeredBytes()).isEqualTo(SLAB);
  }

  @Test
  void seldomTriesInVainIfEachSlabHasABufferInUse() {
    List<ByteBuf> all = buffers(8);
    List<ByteBuf> held = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      if (i % 100 == 0) {
        held.add(all.set(i, memory.allocator().directBuffer(1)));
      }
    }
    release(all);

    pass(2 * SlabTrimmer.MOST_QUIET);
    assertThat(memory.registeredBytes()).isEqualTo(8L * SLAB);

    release(held);
    pass(2 * SlabTrimmer.MOST_QUIET);
    assertThat(memory.registeredBytes()).isEqualTo(SLAB);
  }

  @Test
  void buffersFromAKeptSlabAreUsedAgain() {
    release(buffers(8));
    pass(3 * SlabTrimmer.LEAST_QUIET);
    int registered = domain.registrations();

    release(buffers(1));
    for (int i = 0; i < 100; i++) {
      ByteBuf buf = memory.allocator().directBuffer(LENGTH);
      assertThat(Memories.seenByHca(domain, memory, Memories.numbered(buf), 0, LENGTH))
          .isEqualTo(Memories.numbers(0, LENGTH));
      buf.release();
    }

    assertThat(domain.registrations()).isEqualTo(registered);
  }

  @Test
  void buffersInUseStayRegisteredWhileOthersAreTrimmed() throws Exception {
    AtomicBoolean enough = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(3);
    List<Future<Integer>> users = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int seed = i;
      users.add(threads.submit(() -> useBuffers(new Random(seed), enough)));
    }
    try {
      long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
      for (int trims = 0; trims < 3; ) {
        assertThat(System.nanoTime() - end).as("deadline, after %s trims", trims).isNegative();
        long before = memory.registeredBytes();
        pass(2 * SlabTrimmer.MOST_QUIET);
        trims += memory.registeredBytes() < before ? 1 : 0;
      }
    } finally {
      enough.set(true);
      for (Future<Integer> each : users) {
        assertThat(each.get(1, TimeUnit.MINUTES)).isPositive();
      }
      threads.shutdown();
    }

    pass(2 * SlabTrimmer.MOST_QUIET);
    assertThat(memory.registeredBytes()).isLessThanOrEqualTo(SLAB);
  }

  /**
   * Takes many buffers, and then keeps one for a while, so that slabs become idle; checks that the
   * HCA sees the bytes of each.
   */
  private int useBuffers(Random random, AtomicBoolean enough) {
    int used = 0;
    List<ByteBuf> held = new ArrayList<>();
    while (!enough.get()) {
      int count = 1 + random.nextInt(600);
      for (int i = 0; i < count; i++) {
        held.add(Memories.numbered(memory.allocator().directBuffer(LENGTH)));
      }
      held.forEach(this::assertSeenByHca);
      used += count;
      ByteBuf kept = held.remove(random.nextInt(count));
      release(held);
      for (int i = 0; i < 5000; i++) {
        assertSeenByHca(kept);
      }
      kept.release();
    }
    return used;
  }

  private void assertSeenByHca(ByteBuf buf) {
    assertThat(Memories.seenByHca(domain, memory, buf, 0, 64)).isEqualTo(Memories.numbers(0, 64));
  }
}
