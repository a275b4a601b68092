// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The queue pairs that use a queue, by small numbers that it gives them. Numbers of those that are
 * gone are given again. Adding and removing cost the same however many there are; their caller has
 * a lock.
 *
 * <p>Reading takes no lock. Who reads has heard, through the queue itself, of a queue pair that it
 * looks for; of others it may see a state from before.
 */
final class Attachments {
  private static final int LEAST_CAPACITY = 4;

  private volatile @Nullable EmulatedQueuePair[] pairs = new @Nullable EmulatedQueuePair[0];

  /** Numbers below {@link #end} that are nobody's, the last one given back at the end. */
  private int[] free = new int[LEAST_CAPACITY];

  private int freeCount;

  /** One past the highest number that was ever given. */
  private int end;

  /** How many there are; for the holder of the lock. */
  int size() {
    return end - freeCount;
  }

  /** One of them, or null if there is none; for the holder of the lock. */
  @Nullable EmulatedQueuePair any() {
    for (EmulatedQueuePair pair : pairs) {
      if (pair != null) {
        return pair;
      }
    }
    return null;
  }

  /** The one with this number; null, or another one, if that is gone. */
  @Nullable EmulatedQueuePair get(int number) {
    @Nullable EmulatedQueuePair[] all = pairs;
    return number < all.length ? all[number] : null;
  }

  /** Calls an action with each; allocates nothing. */
  void forEach(Consumer<EmulatedQueuePair> action) {
    for (EmulatedQueuePair pair : pairs) {
      if (pair != null) {
        action.accept(pair);
      }
    }
  }

  /** Adds one, for the holder of the lock; answers its number. */
  int add(EmulatedQueuePair pair) {
    int number = freeCount > 0 ? free[--freeCount] : end++;
    @Nullable EmulatedQueuePair[] all = pairs;
    if (number == all.length) {
      all = Arrays.copyOf(all, Math.max(LEAST_CAPACITY, 2 * number));
    }
    all[number] = pair;
    // Also where it is the same array: so others see what is in it.
    pairs = all;
    return number;
  }

  /** Removes one, for the holder of the lock. */
  void remove(int number) {
    pairs[number] = null;
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, 2 * freeCount);
    }
    free[freeCount++] = number;
  }
}
