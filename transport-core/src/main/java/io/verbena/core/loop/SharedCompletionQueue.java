// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.CompletionQueue;

/** A completion queue that several members share by reserving a part of its depth each. */
final class SharedCompletionQueue {
  /** An emulated completion queue has room for four times as many send and receive queues. */
  private static final int MOST_MEMBERS = 1 << 14;

  final CompletionQueue queue;
  private int reserved;
  private int members;

  /** Whether the queue is armed, or raised an event that was not taken yet. */
  boolean armed;

  SharedCompletionQueue(CompletionQueue queue) {
    this.queue = queue;
  }

  boolean reserve(int completions) {
    if (!fits(completions, queue.depth())) {
      return false;
    }
    reserved += completions;
    members++;
    return true;
  }

  /** Returns whether so many more would fit if it had this depth. */
  boolean fits(int completions, int depth) {
    return completions <= depth - reserved && members < MOST_MEMBERS;
  }

  void giveBack(int completions) {
    reserved -= completions;
    members--;
  }
}
