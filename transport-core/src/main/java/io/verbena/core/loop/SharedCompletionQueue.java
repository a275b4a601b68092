// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.CompletionQueue;

/** A completion queue that several members share by reserving a part of its depth each. */
final class SharedCompletionQueue {
  final CompletionQueue queue;
  private int reserved;

  /** Whether the queue is armed, or raised an event that was not taken yet. */
  boolean armed;

  SharedCompletionQueue(CompletionQueue queue) {
    this.queue = queue;
  }

  boolean reserve(int completions) {
    if (completions > queue.depth() - reserved) {
      return false;
    }
    reserved += completions;
    return true;
  }

  void giveBack(int completions) {
    reserved -= completions;
  }
}
