package io.verbena.disni;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The requests of one queue that hold a slot, oldest first, and the ids that the program gave them.
 * Some HCAs free a slot as soon as the work is done; a program that is to run on all of them counts
 * on nothing before it polled.
 *
 * <p>Posters hold a lock of the queue's; one poller at a time frees. What a poster wrote is visible
 * to the poller through the HCA: both go through native code, which fences.
 */
final class Slots {
  private static final VarHandle FREED;

  static {
    try {
      FREED = MethodHandles.lookup().findVarHandle(Slots.class, "freed", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final long[] ids;
  private final int mask;
  private final int capacity;
  private long posted;

  @SuppressWarnings("UnusedVariable") // by its handle
  private long freed;

  Slots(int capacity) {
    this.capacity = capacity;
    ids = new long[Math.max(1, Integer.highestOneBit(Math.max(1, 2 * capacity - 1)))];
    mask = ids.length - 1;
  }

  int capacity() {
    return capacity;
  }

  /** For posters: whether all slots are held. */
  boolean isFull() {
    return posted - (long) FREED.getAcquire(this) >= capacity;
  }

  /** For posters: takes a slot; answers its sequence number. */
  int take(long id) {
    int sequence = (int) posted;
    ids[sequence & mask] = id;
    posted++;
    return sequence;
  }

  /** For posters: gives back the newest {@code count}, which were not posted after all. */
  void giveBack(int count) {
    posted -= count;
  }

  /** For the poller: frees all up to this sequence number; answers the id of this one. */
  long free(int sequence) {
    long before = (long) FREED.getOpaque(this);
    long id = ids[sequence & mask];
    FREED.setRelease(this, before + 1 + Integer.toUnsignedLong(sequence - (int) before));
    return id;
  }

  /** For posters, while no completion can come: frees all. */
  void clear() {
    FREED.setRelease(this, posted);
  }
}
