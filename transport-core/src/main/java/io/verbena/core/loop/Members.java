// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The members by index. Free indices are reused, the latest first, each time with another
 * generation.
 */
final class Members<M extends CompletionTarget> {
  private @Nullable Object[] members = new @Nullable Object[16];
  private long[] prefixes = new long[16];
  private int[] depths = new int[16];
  private @Nullable SharedCompletionQueue[] queues = new @Nullable SharedCompletionQueue[16];
  private int[] generations = new int[16];

  /** The unused indices below {@link #bound}. */
  private int[] free = new int[16];

  private int freeCount;
  private int bound;

  int count() {
    return bound - freeCount;
  }

  /** Returns one more than the highest index that was ever used. */
  int bound() {
    return bound;
  }

  @SuppressWarnings("unchecked") // add() puts nothing else there
  @Nullable M at(int index) {
    return (M) members[index];
  }

  /**
   * Calls {@code visitor} with each member that the calling thread can see; may be called by any
   * thread.
   */
  @SuppressWarnings("unchecked") // add() puts nothing else there
  void forEach(Consumer<? super M> visitor) {
    for (Object member : members) {
      if (member != null) {
        visitor.accept((M) member);
      }
    }
  }

  long add(M member, SharedCompletionQueue queue, int depth) {
    if (freeCount == 0 && bound == members.length) {
      grow();
    }
    int index = freeCount > 0 ? free[--freeCount] : bound++;
    members[index] = member;
    queues[index] = queue;
    depths[index] = depth;
    prefixes[index] = WorkRequestId.prefix(index, ++generations[index]);
    return prefixes[index];
  }

  private void grow() {
    int size = members.length * 2;
    if (size > WorkRequestId.MAX_MEMBERS) {
      throw new IllegalStateException(
          "members: " + members.length + " (expected: < " + WorkRequestId.MAX_MEMBERS + ")");
    }
    members = Arrays.copyOf(members, size);
    prefixes = Arrays.copyOf(prefixes, size);
    depths = Arrays.copyOf(depths, size);
    queues = Arrays.copyOf(queues, size);
    generations = Arrays.copyOf(generations, size);
    free = new int[size];
  }

  /** Removes a member; returns the number of completions that it had reserved. */
  int remove(long prefix) {
    int index = WorkRequestId.index(prefix);
    SharedCompletionQueue queue = queues[index];
    if (members[index] == null || prefixes[index] != prefix || queue == null) {
      throw new IllegalStateException("not a member: index " + index);
    }
    queue.giveBack(depths[index]);
    members[index] = null;
    queues[index] = null;
    free[freeCount++] = index;
    return depths[index];
  }

  @Nullable M find(long workRequestId) {
    int index = WorkRequestId.index(workRequestId);
    return index < members.length && WorkRequestId.hasPrefix(workRequestId, prefixes[index])
        ? at(index)
        : null;
  }
}
