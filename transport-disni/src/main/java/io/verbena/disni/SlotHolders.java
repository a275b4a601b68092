// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The queues of a context by tag. Pollers look them up without a lock, because changes replace the
 * table.
 */
final class SlotHolders {
  private volatile @Nullable SlotHolder[] table = new @Nullable SlotHolder[64];
  private int[] generations = new int[64];
  private int next;

  /**
   * Reserves an entry for a new queue.
   *
   * @return its tag
   */
  synchronized int reserve() {
    @Nullable SlotHolder[] now = table;
    for (int i = 0; i < now.length; i++) {
      // Searches round-robin, so that an index is reused as late as possible.
      int index = (next + i) % now.length;
      if (now[index] == null && generations[index] >= 0) {
        next = index + 1;
        return take(index);
      }
    }
    if (now.length == 1 << Cookie.INDEX_BITS) {
      throw new VerbsException(
          VerbsError.NO_MEMORY, "queues: " + now.length + " (expected: < " + now.length + ")");
    }
    table = Arrays.copyOf(now, 2 * now.length);
    generations = Arrays.copyOf(generations, 2 * now.length);
    next = now.length + 1;
    return take(now.length);
  }

  private int take(int index) {
    int tag = Cookie.tag(index, generations[index] + 1);
    generations[index] = ~(generations[index] + 1);
    return tag;
  }

  /** Puts a queue into the entry of its tag. */
  synchronized void put(SlotHolder queue) {
    @Nullable SlotHolder[] copy = table.clone();
    copy[Cookie.index(queue.tag())] = queue;
    table = copy;
  }

  /** Returns the next tag of an entry; completions with the old tag are ignored from then on. */
  synchronized int renew(int tag) {
    int index = Cookie.index(tag);
    int generation = ~generations[index] + 1;
    generations[index] = ~generation;
    return Cookie.tag(index, generation);
  }

  synchronized void remove(int tag) {
    int index = Cookie.index(tag);
    @Nullable SlotHolder[] copy = table.clone();
    copy[index] = null;
    table = copy;
    generations[index] = ~generations[index];
  }

  /** Returns the queue that a request was posted to, or null if it is closed or was reset since. */
  @Nullable SlotHolder find(int tag) {
    @Nullable SlotHolder[] now = table;
    int index = Cookie.index(tag);
    SlotHolder queue = index < now.length ? now[index] : null;
    return queue != null && queue.tag() == tag ? queue : null;
  }
}
