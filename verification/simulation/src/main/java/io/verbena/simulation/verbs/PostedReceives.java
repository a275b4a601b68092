// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Violation;
import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/** The receives of one queue pair, or of all queue pairs that share a receive queue. */
final class PostedReceives {
  /** The length of the global routing header in front of a datagram. */
  static final int GRH_LENGTH = 40;

  private static final int SEGMENTS = 2;
  private static final long FLAG = 1L << 62;
  private static final int ID_SHIFT = 32;

  private final int index;
  private final int size;
  private final int[] slots;
  private final boolean[] done;
  private final ReceiveWorkRequest request = new ReceiveWorkRequest(SEGMENTS);
  private @Nullable MemoryRegion region;
  private @Nullable SharedReceiveQueue shared;
  private int users;
  private int posted;
  private int completed;
  private long postedAt = -1;

  /**
   * Allocates the memory of all receives.
   *
   * @param index the index of this object in the simulation
   * @param size the bytes of a receive, with the header in front of the message
   */
  PostedReceives(Arena arena, int index, int count, int size) {
    this.index = index;
    this.size = size;
    slots = new int[count];
    done = new boolean[count];
    for (int i = 0; i < count; i++) {
      slots[i] = arena.allocate(size);
    }
  }

  /**
   * Registers the memory and creates the shared receive queue, if any. Only the first call has an
   * effect.
   */
  void create(Arena arena, ProtectionDomain domain, boolean shareQueue) {
    if (region != null || shared != null) {
      return;
    }
    if (slots.length > 0) {
      int from = slots[0];
      int to = slots[slots.length - 1] + size;
      region = domain.register(arena.memory.slice(from, to - from), EnumSet.of(Access.LOCAL_WRITE));
    }
    if (shareQueue) {
      shared = domain.createSharedReceiveQueue(capacity(), SEGMENTS);
    }
  }

  /** Adds a queue pair that consumes these receives. Returns the shared receive queue, if any. */
  @Nullable SharedReceiveQueue attach() {
    users++;
    return shared;
  }

  boolean isShared() {
    return shared != null;
  }

  int capacity() {
    return Math.max(1, slots.length);
  }

  static int segments() {
    return SEGMENTS;
  }

  /** Posts the next receive. */
  void post(SimulatedEndpoint by, long now) {
    SharedReceiveQueue queue = shared;
    MemoryRegion memory = region;
    if (memory == null || (by.isClosed() && queue == null)) {
      return;
    }
    long address = memory.address() + slots[posted] - slots[0];
    int first = size / 3;
    request.id(FLAG | (long) index << ID_SHIFT | posted).buffers().clear();
    request.buffers().add(address, first, memory.lkey());
    request.buffers().add(address + first, size - first, memory.lkey());
    posted++;
    postedAt = now;
    if (queue == null) {
      by.pair().postReceive(request);
    } else {
      queue.postReceive(request);
    }
  }

  static boolean isReceive(WorkCompletion completion) {
    return (completion.workRequestId() & FLAG) != 0;
  }

  static int indexOf(WorkCompletion completion) {
    return (int) ((completion.workRequestId() & ~FLAG) >>> ID_SHIFT);
  }

  /**
   * Checks that a receive completes only once and, unless the queue is shared, in order. Returns
   * its offset in the arena.
   */
  int complete(WorkCompletion completion) {
    int number = (int) completion.workRequestId();
    if (number >= posted || done[number] || (shared == null && number != completed)) {
      throw new Violation("receive completed out of order or twice: " + completion);
    }
    done[number] = true;
    completed++;
    return slots[number];
  }

  /** Returns the number of receives that were posted and have not completed. */
  int outstanding() {
    return posted - completed;
  }

  /**
   * Returns whether a message may find no receive, because other messages may be using all
   * outstanding ones.
   */
  boolean mayBeExhausted() {
    return outstanding() < Math.max(1, users);
  }

  /**
   * Returns whether a message may find no receive now, or may have found none before the receive
   * posted at this moment.
   */
  boolean mayHaveBeenExhausted(long now) {
    return mayBeExhausted() || postedAt == now;
  }

  /** Returns the offsets of the receives that were posted and have not completed. */
  int[] outstandingSlots() {
    int[] places = new int[outstanding()];
    int count = 0;
    for (int i = 0; i < posted; i++) {
      if (!done[i]) {
        places[count++] = slots[i];
      }
    }
    return places;
  }

  void close() {
    if (shared != null) {
      shared.close();
    }
    if (region != null) {
      region.close();
    }
  }
}
