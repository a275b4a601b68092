// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a send or receive queue of one queue pair, in the order of posting. A request holds
 * a slot, with the program's work request id, until its completion is polled. (Some HCAs free a
 * slot as soon as the work is done; a program that runs on all of them cannot rely on that.)
 *
 * <p>Posting threads hold a lock of the queue, and one polling thread at a time frees slots. The
 * writes of a posting thread are visible to the polling thread because both call native code, which
 * has memory fences.
 */
final class Slots {
  private final long[] ids;

  /** Whether a request is unsignaled, by slot; null if that is not recorded. */
  private final boolean @Nullable [] silent;

  private final int mask;
  private final int capacity;
  private long posted;

  // Not a VarHandle, which is slow until C2 has compiled the caller.
  private final AtomicLong freed = new AtomicLong();

  Slots(int capacity) {
    this(capacity, /* notesSilence= */ false);
  }

  /**
   * @param notesSilence whether to record unsignaled requests, for {@link #completes}
   */
  Slots(int capacity, boolean notesSilence) {
    this.capacity = capacity;
    ids = new long[Math.max(1, Integer.highestOneBit(Math.max(1, 2 * capacity - 1)))];
    mask = ids.length - 1;
    silent = notesSilence ? new boolean[ids.length] : null;
  }

  int capacity() {
    return capacity;
  }

  /**
   * Returns the number of slots ever taken. Any thread may call this, and may see an older value.
   */
  long posted() {
    return posted;
  }

  /**
   * Returns the number of slots ever freed. Any thread may call this, and may see an older value.
   */
  long freed() {
    return freed.get();
  }

  /** Returns whether all slots are held. For posting threads. */
  boolean isFull() {
    return posted - freed.get() >= capacity;
  }

  /** Takes a slot and returns its sequence number. For posting threads. */
  int take(long id) {
    int sequence = (int) posted;
    ids[sequence & mask] = id;
    posted++;
    return sequence;
  }

  /** Takes a slot for a request that may be unsignaled, see {@link #take(long)}. */
  int take(long id, boolean signaled) {
    boolean @Nullable [] noted = silent;
    if (noted != null) {
      noted[(int) posted & mask] = !signaled;
    }
    return take(id);
  }

  /**
   * Returns whether the request at this position completes even if it succeeds. For posting
   * threads.
   */
  boolean completes(long position) {
    boolean @Nullable [] noted = silent;
    return noted == null || !noted[(int) position & mask];
  }

  /** Returns the position of a sequence number that is not yet freed. For the polling thread. */
  long position(int sequence) {
    long before = freed.get();
    return before + Integer.toUnsignedLong(sequence - (int) before);
  }

  /**
   * Gives back the newest {@code count} slots, at least 1, whose requests were not posted. For
   * posting threads.
   *
   * @return the id of the oldest of them
   */
  long giveBack(int count) {
    posted -= count;
    return ids[(int) posted & mask];
  }

  /**
   * Frees all slots up to this sequence number; returns the work request id of this one. For the
   * polling thread.
   */
  long free(int sequence) {
    long before = freed.get();
    long id = ids[sequence & mask];
    freed.lazySet(before + 1 + Integer.toUnsignedLong(sequence - (int) before));
    return id;
  }

  /** Frees all slots. For posting threads, while no completion can come. */
  void clear() {
    freed.lazySet(posted);
  }
}
