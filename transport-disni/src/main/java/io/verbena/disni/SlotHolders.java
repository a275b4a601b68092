// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The queues of a context by tag. Pollers look without a lock: the table is replaced to grow. */
final class SlotHolders {
  private volatile @Nullable SlotHolder[] table = new @Nullable SlotHolder[64];
  private int[] generations = new int[64];
  private int next;

  /**
   * Finds a place for one more queue.
   *
   * @return its tag
   */
  synchronized int reserve() {
    @Nullable SlotHolder[] now = table;
    for (int i = 0; i < now.length; i++) {
      // Round and round, so that an index rests as long as possible before it is used again.
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

  /** Puts a queue into the place of its tag. */
  synchronized void put(SlotHolder queue) {
    @Nullable SlotHolder[] copy = table.clone();
    copy[Cookie.index(queue.tag())] = queue;
    table = copy;
  }

  /** The tag that follows: what was posted under the old one is not known any more. */
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

  /** The queue that a request was posted to, or null if it is closed or was reset. */
  @Nullable SlotHolder find(int tag) {
    @Nullable SlotHolder[] now = table;
    int index = Cookie.index(tag);
    SlotHolder queue = index < now.length ? now[index] : null;
    return queue != null && queue.tag() == tag ? queue : null;
  }
}
