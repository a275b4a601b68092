// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.CompletionQueue;

/** A completion queue of which each of several members reserves a part of the depth. */
final class SharedCompletionQueue {
  /**
   * The most members; an emulated completion queue has room for four times as many send and receive
   * queues.
   */
  private static final int MOST_MEMBERS = 1 << 14;

  final CompletionQueue queue;
  private int reserved;
  private int members;

  /** Whether the queue is armed, or has raised an event that was not taken yet. */
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

  /** Returns whether so many more completions would fit if the queue had this depth. */
  boolean fits(int completions, int depth) {
    return completions <= depth - reserved && members < MOST_MEMBERS;
  }

  void giveBack(int completions) {
    reserved -= completions;
    members--;
  }
}
