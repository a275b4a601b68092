// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one queue that hold a slot, oldest first, and the ids that the program gave them.
 * Some HCAs free a slot as soon as the work is done; a program that is to run on all of them counts
 * on nothing before it polled.
 *
 * <p>Posters hold a lock of the queue's; one poller at a time frees. What a poster wrote is visible
 * to the poller through the HCA: both go through native code, which fences.
 */
final class Slots {
  private final long[] ids;

  /** The marks of requests that complete only if they fail; null where these are not noted. */
  private final boolean @Nullable [] silent;

  private final int mask;
  private final int capacity;
  private long posted;

  // Not by a handle: those are slow until the JVM's last compiler has seen them.
  private final AtomicLong freed = new AtomicLong();

  Slots(int capacity) {
    this(capacity, /* notesSilence= */ false);
  }

  /**
   * @param notesSilence whether {@link #completes} is of use
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

  /** Returns how many were ever taken; any thread may call it, and may see it a moment late. */
  long posted() {
    return posted;
  }

  /** Returns how many of them were freed; likewise. */
  long freed() {
    return freed.get();
  }

  /** For posters: whether all slots are held. */
  boolean isFull() {
    return posted - freed.get() >= capacity;
  }

  /** For posters: takes a slot; returns its sequence number. */
  int take(long id) {
    int sequence = (int) posted;
    ids[sequence & mask] = id;
    posted++;
    return sequence;
  }

  /** As {@link #take(long)}, of a request that may be unsignaled. */
  int take(long id, boolean signaled) {
    boolean @Nullable [] noted = silent;
    if (noted != null) {
      noted[(int) posted & mask] = !signaled;
    }
    return take(id);
  }

  /** For posters: returns whether the request at this position completes even when it succeeds. */
  boolean completes(long position) {
    boolean @Nullable [] noted = silent;
    return noted == null || !noted[(int) position & mask];
  }

  /** For the poller: the position of a sequence number that is not freed. */
  long position(int sequence) {
    long before = freed.get();
    return before + Integer.toUnsignedLong(sequence - (int) before);
  }

  /**
   * For posters: gives back the newest {@code count}, at least 1, which were not posted after all.
   *
   * @return the id of the oldest of them
   */
  long giveBack(int count) {
    posted -= count;
    return ids[(int) posted & mask];
  }

  /** For the poller: frees all up to this sequence number; returns the id of this one. */
  long free(int sequence) {
    long before = freed.get();
    long id = ids[sequence & mask];
    freed.lazySet(before + 1 + Integer.toUnsignedLong(sequence - (int) before));
    return id;
  }

  /** For posters, while no completion can come: frees all. */
  void clear() {
    freed.lazySet(posted);
  }
}
