// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The queue pairs that use a queue, by small numbers that the queue assigns. Numbers of removed
 * queue pairs are reused. Adding and removing take constant time; the caller holds a lock.
 *
 * <p>Reading takes no lock. A reader learned of the queue pair that it looks for through the queue
 * itself, and so sees it; of others it may see an earlier state.
 */
final class Attachments {
  private static final int LEAST_CAPACITY = 4;

  private volatile @Nullable EmulatedQueuePair[] pairs = new @Nullable EmulatedQueuePair[0];

  /** Numbers below {@link #end} that are not in use; the one given back last is at the end. */
  private int[] free = new int[LEAST_CAPACITY];

  private int freeCount;

  /** One past the highest number that was ever assigned. */
  private int end;

  /** Returns the number of queue pairs; for the holder of the lock. */
  int size() {
    return end - freeCount;
  }

  /** Returns one of them, or null if there is none; for the holder of the lock. */
  @Nullable EmulatedQueuePair any() {
    for (EmulatedQueuePair pair : pairs) {
      if (pair != null) {
        return pair;
      }
    }
    return null;
  }

  /** Returns the one with this number; null, or another one, if that is gone. */
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

  /** Adds one and returns its number; for the holder of the lock. */
  int add(EmulatedQueuePair pair) {
    int number = freeCount > 0 ? free[--freeCount] : end++;
    @Nullable EmulatedQueuePair[] all = pairs;
    if (number == all.length) {
      all = Arrays.copyOf(all, Math.max(LEAST_CAPACITY, 2 * number));
    }
    all[number] = pair;
    // Also if it is the same array: the volatile write makes its new content visible.
    pairs = all;
    return number;
  }

  /** Removes one; for the holder of the lock. */
  void remove(int number) {
    pairs[number] = null;
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, 2 * freeCount);
    }
    free[freeCount++] = number;
  }
}
