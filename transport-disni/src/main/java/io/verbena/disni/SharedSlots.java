// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.Arrays;
import java.util.Comparator;

/**
 * The receives of a shared receive queue that hold a slot, in whatever order they complete, and the
 * ids that the program gave them.
 *
 * <p>A receive that a queue pair had taken when it was destroyed never completes. No event reports
 * that, but it can be known. The HCA gives receives out in the order in which they were posted, and
 * a queue pair completes them in that order. So one that is older than the newest that has
 * completed was given out; and if each queue pair there is has completed a newer one, or has come
 * since, none of them has it. What those that are gone had completed is {@linkplain
 * DisniCompletionQueue#purge taken back} before they leave.
 *
 * <p>Guarded by the monitor of the queue.
 */
final class SharedSlots {
  private static final long FREE = -1;
  private static final Comparator<Taker> BY_NUMBER = Comparator.comparingInt(taker -> taker.number);

  /** A queue pair that takes receives. */
  static final class Taker {
    private final int number;
    private final boolean datagrams;

    /** It has none that is older than this one. */
    private long newest;

    private Taker(int number, boolean datagrams, long newest) {
      this.number = number;
      this.datagrams = datagrams;
      this.newest = newest;
    }
  }

  private final long[] ids;
  private final long[] sequences;
  private final int[] free;
  private int freeCount;
  private long posted;
  private long newest = -1;
  private Taker[] takers = new Taker[0];

  SharedSlots(int capacity) {
    ids = new long[capacity];
    sequences = new long[capacity];
    Arrays.fill(sequences, FREE);
    free = new int[capacity];
    for (int i = 0; i < capacity; i++) {
      free[i] = i;
    }
    freeCount = capacity;
  }

  int capacity() {
    return ids.length;
  }

  /** Returns whether all slots are held, also by receives that can still complete. */
  boolean isFull() {
    if (freeCount == 0) {
      reclaim();
    }
    return freeCount == 0;
  }

  /** Returns whether a slot is known to be free. */
  boolean hasFree() {
    return freeCount > 0;
  }

  /** Takes a free slot for a receive that is posted next. */
  int take(long id) {
    int slot = free[--freeCount];
    ids[slot] = id;
    sequences[slot] = posted++;
    return slot;
  }

  /**
   * Gives back the slots that were taken last, {@code count} of them, at least 1, whose receives
   * were not posted after all. None was {@linkplain #isFull looked for} or freed since.
   *
   * @return the id of the oldest of them
   */
  long giveBack(int count) {
    posted -= count;
    for (int i = 0; i < count; i++) {
      sequences[free[freeCount++]] = FREE;
    }
    return ids[free[freeCount - 1]];
  }

  /** Frees the slot of a completion that was polled; returns the id of its receive. */
  long free(int slot, int queuePair) {
    long sequence = sequences[slot];
    if (sequence != FREE) {
      sequences[slot] = FREE;
      free[freeCount++] = slot;
      newest = Math.max(newest, sequence);
      int at = find(queuePair);
      if (at >= 0) {
        takers[at].newest = Math.max(takers[at].newest, sequence);
      }
    }
    return ids[slot];
  }

  /**
   * A queue pair was made that takes receives from now on.
   *
   * @param datagrams whether it takes them for datagrams
   */
  Taker join(int queuePair, boolean datagrams) {
    Taker taker = new Taker(queuePair, datagrams, newest);
    Taker[] more = Arrays.copyOf(takers, takers.length + 1);
    more[takers.length] = taker;
    Arrays.sort(more, BY_NUMBER);
    takers = more;
    return taker;
  }

  /** Returns whether a queue pair takes receives for datagrams. */
  boolean takesDatagrams(int queuePair) {
    int at = find(queuePair);
    return at >= 0 && takers[at].datagrams;
  }

  /** It was reset, and no completion of it is left: it has none of those that were taken. */
  void emptied(Taker taker) {
    taker.newest = newest;
  }

  /** It is destroyed, and no completion of it is left. */
  void leave(Taker taker) {
    takers = Arrays.stream(takers).filter(each -> each != taker).toArray(Taker[]::new);
  }

  private int find(int queuePair) {
    int low = 0;
    int high = takers.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int number = takers[middle].number;
      if (number == queuePair) {
        return middle;
      }
      if (number < queuePair) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1;
  }

  /** Frees the slots of receives that no queue pair has any more. */
  private void reclaim() {
    long bound = newest;
    for (Taker taker : takers) {
      bound = Math.min(bound, taker.newest);
    }
    for (int slot = 0; slot < sequences.length; slot++) {
      if (sequences[slot] != FREE && sequences[slot] < bound) {
        sequences[slot] = FREE;
        free[freeCount++] = slot;
      }
    }
  }
}
