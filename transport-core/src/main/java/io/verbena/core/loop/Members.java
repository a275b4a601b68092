// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Members by index. An index is used again with another generation. */
final class Members<M extends CompletionTarget> {
  private @Nullable Object[] members = new @Nullable Object[16];
  private long[] prefixes = new long[16];
  private int[] depths = new int[16];
  private @Nullable SharedCompletionQueue[] queues = new @Nullable SharedCompletionQueue[16];
  private int[] generations = new int[16];
  private int count;

  int count() {
    return count;
  }

  /** Returns one more than the highest index that was ever used. */
  int bound() {
    return members.length;
  }

  @SuppressWarnings("unchecked") // add() puts nothing else there
  @Nullable M at(int index) {
    return (M) members[index];
  }

  /** Calls {@code visitor} with each of them that can be seen; also from another thread. */
  @SuppressWarnings("unchecked") // add() puts nothing else there
  void forEach(Consumer<? super M> visitor) {
    for (Object member : members) {
      if (member != null) {
        visitor.accept((M) member);
      }
    }
  }

  long add(M member, SharedCompletionQueue queue, int depth) {
    int index = 0;
    while (index < members.length && members[index] != null) {
      index++;
    }
    if (index == members.length) {
      grow();
    }
    members[index] = member;
    queues[index] = queue;
    depths[index] = depth;
    prefixes[index] = WorkRequestId.prefix(index, ++generations[index]);
    count++;
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
  }

  /** Removes a member; returns the depth that it had reserved. */
  int remove(long prefix) {
    int index = WorkRequestId.index(prefix);
    SharedCompletionQueue queue = queues[index];
    if (members[index] == null || prefixes[index] != prefix || queue == null) {
      throw new IllegalStateException("not a member: index " + index);
    }
    queue.giveBack(depths[index]);
    members[index] = null;
    queues[index] = null;
    count--;
    return depths[index];
  }

  @Nullable M find(long workRequestId) {
    int index = WorkRequestId.index(workRequestId);
    return index < members.length && WorkRequestId.hasPrefix(workRequestId, prefixes[index])
        ? at(index)
        : null;
  }
}
