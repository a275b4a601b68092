// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A list of the queue pairs that use a queue, indexed by small numbers that {@link #add} assigns.
 * Numbers of removed queue pairs are reused. Adding and removing take constant time, under a lock
 * of the caller.
 *
 * <p>Reading takes no lock. A reader that got a number through the queue, for instance in a
 * completion, finds its queue pair; it may see other queue pairs in an earlier state.
 */
final class Attachments {
  private static final int LEAST_CAPACITY = 4;

  private volatile @Nullable EmulatedQueuePair[] pairs = new @Nullable EmulatedQueuePair[0];

  /** A stack of the numbers below {@link #end} that are not in use. */
  private int[] free = new int[LEAST_CAPACITY];

  private int freeCount;

  /** One past the highest number that was ever assigned. */
  private int end;

  /** Returns the number of queue pairs. Called under the lock. */
  int size() {
    return end - freeCount;
  }

  /** Returns any queue pair, or null if there is none. Called under the lock. */
  @Nullable EmulatedQueuePair any() {
    for (EmulatedQueuePair pair : pairs) {
      if (pair != null) {
        return pair;
      }
    }
    return null;
  }

  /**
   * Returns the queue pair with this number. If it was removed, returns null or one that reuses the
   * number.
   */
  @Nullable EmulatedQueuePair get(int number) {
    @Nullable EmulatedQueuePair[] all = pairs;
    return number < all.length ? all[number] : null;
  }

  /** Calls an action with each queue pair; allocates nothing. */
  void forEach(Consumer<EmulatedQueuePair> action) {
    for (EmulatedQueuePair pair : pairs) {
      if (pair != null) {
        action.accept(pair);
      }
    }
  }

  /** Adds a queue pair and returns its number. Called under the lock. */
  int add(EmulatedQueuePair pair) {
    int number = freeCount > 0 ? free[--freeCount] : end++;
    @Nullable EmulatedQueuePair[] all = pairs;
    if (number == all.length) {
      all = Arrays.copyOf(all, Math.max(LEAST_CAPACITY, 2 * number));
    }
    all[number] = pair;
    // Written even if the array is the same: the volatile write publishes its new content.
    pairs = all;
    return number;
  }

  /** Removes the queue pair with this number. Called under the lock. */
  void remove(int number) {
    pairs[number] = null;
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, 2 * freeCount);
    }
    free[freeCount++] = number;
  }
}
