// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.Arrays;
import java.util.Comparator;

/**
 * The slots of a shared receive queue. A posted receive holds a slot until its completion is
 * polled; receives complete in any order. A slot keeps the program's work request id.
 *
 * <p>A receive that a queue pair holds when it is destroyed never completes. No event reports that,
 * but {@link #isFull} can infer it. The HCA hands out receives in the order in which they were
 * posted, and a queue pair completes its receives in that order. So a receive older than the newest
 * completed one was handed out. If each existing queue pair has completed a newer receive, or was
 * created after that, none of them holds the older receive, and its slot is freed. The completions
 * of a destroyed queue pair are {@linkplain DisniCompletionQueue#purge purged} before it leaves.
 *
 * <p>Guarded by the monitor of the shared receive queue.
 */
final class SharedSlots {
  private static final long FREE = -1;
  private static final Comparator<Taker> BY_NUMBER = Comparator.comparingInt(taker -> taker.number);

  /** A queue pair that takes receives. */
  static final class Taker {
    private final int number;
    private final boolean datagrams;

    /** The queue pair holds no receive older than this sequence number. */
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

  /**
   * Returns whether all slots are held; before that, frees the slots of receives that cannot
   * complete.
   */
  boolean isFull() {
    if (freeCount == 0) {
      reclaim();
    }
    return freeCount == 0;
  }

  /** Returns whether a slot is free, without looking for receives that cannot complete. */
  boolean hasFree() {
    return freeCount > 0;
  }

  /** Takes a free slot for the next receive to post. */
  int take(long id) {
    int slot = free[--freeCount];
    ids[slot] = id;
    sequences[slot] = posted++;
    return slot;
  }

  /**
   * Gives back the last {@code count} slots taken, at least 1, because their receives were not
   * posted. Neither {@link #isFull} nor {@link #free(int, int)} was called since they were taken.
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
   * Adds a new queue pair.
   *
   * @param datagrams whether its receives are for datagrams
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

  /**
   * Records that a queue pair was reset and none of its completions is left: it holds no receive.
   */
  void emptied(Taker taker) {
    taker.newest = newest;
  }

  /** Removes a queue pair that is destroyed, when none of its completions is left. */
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

  /** Frees the slots of receives that no queue pair holds any more. */
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
