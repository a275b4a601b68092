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

/** The receives of one queue pair, or of all of a device that share them. */
final class PostedReceives {
  /** Bytes in front of a datagram. */
  static final int AREA = 40;

  private static final int PIECES = 2;
  private static final long FLAG = 1L << 62;
  private static final int ID_SHIFT = 32;

  private final int index;
  private final int size;
  private final int[] slots;
  private final boolean[] done;
  private final ReceiveWorkRequest request = new ReceiveWorkRequest(PIECES);
  private @Nullable MemoryRegion region;
  private @Nullable SharedReceiveQueue shared;
  private int users;
  private int posted;
  private int completed;
  private long postedAt = -1;

  /**
   * Takes memory.
   *
   * @param index its place among all such
   * @param area bytes in front of each message
   */
  PostedReceives(Arena arena, int index, int count, int area) {
    this.index = index;
    size = area + VerbsScenario.MAX_LENGTH;
    slots = new int[count];
    done = new boolean[count];
    for (int i = 0; i < count; i++) {
      slots[i] = arena.take(size);
    }
  }

  /** Registers its memory, for the first of those who share it. */
  void create(Arena arena, ProtectionDomain domain, boolean sharing) {
    if (region != null || shared != null) {
      return;
    }
    if (slots.length > 0) {
      int from = slots[0];
      int to = slots[slots.length - 1] + size;
      region = domain.register(arena.memory.slice(from, to - from), EnumSet.of(Access.LOCAL_WRITE));
    }
    if (sharing) {
      shared = domain.createSharedReceiveQueue(capacity(), PIECES);
    }
  }

  /** Has one more queue pair take from it. */
  @Nullable SharedReceiveQueue use() {
    users++;
    return shared;
  }

  boolean isShared() {
    return shared != null;
  }

  int capacity() {
    return Math.max(1, slots.length);
  }

  static int pieces() {
    return PIECES;
  }

  /** Posts the next. */
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

  static boolean owns(WorkCompletion completion) {
    return (completion.workRequestId() & FLAG) != 0;
  }

  static int indexOf(WorkCompletion completion) {
    return (int) ((completion.workRequestId() & ~FLAG) >>> ID_SHIFT);
  }

  /** A receive has completed: once, and, if nobody else takes them, in order. */
  int complete(WorkCompletion completion) {
    int number = (int) completion.workRequestId();
    if (number >= posted || done[number] || (shared == null && number != completed)) {
      throw new Violation("receive out of order, or given twice: " + completion);
    }
    done[number] = true;
    completed++;
    return slots[number];
  }

  /** How many wait, or are being filled. */
  int left() {
    return posted - completed;
  }

  /** Whether somebody may rightly find none: others may be filling those that are left. */
  boolean mayBeTaken() {
    return left() < Math.max(1, users);
  }

  /** Whether that may be at this moment, or have been. */
  boolean mayBeEmpty(long now) {
    return mayBeTaken() || postedAt == now;
  }

  /** Where those stand that were posted and have not completed. */
  int[] unfinished() {
    int[] places = new int[left()];
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
