// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.hca.CompletionEntry;
import io.verbena.emulated.hca.CompletionRing;
import io.verbena.emulated.hca.EmulatedCompletionQueue;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Ownership;

/**
 * Filled receives whose completions are published later. If there are too many, the oldest
 * completion is published at once.
 */
final class DeferredReceives {
  private static final int CAPACITY = 64;

  private final EmulatedQueuePair pair;
  private final CompletionEntry[] entries = new CompletionEntry[CAPACITY];
  private final Ownership ownership = new Ownership();

  // The fields below are accessed by the owner only.
  private long shown;
  private long added;

  DeferredReceives(EmulatedQueuePair pair) {
    this.pair = pair;
    for (int i = 0; i < CAPACITY; i++) {
      entries[i] = new CompletionEntry();
    }
  }

  /**
   * Adds a completion, after publishing the oldest one if there is no room; returns false if the
   * completion queue was full then.
   */
  boolean add(CompletionEntry completion) {
    ownership.acquire();
    try {
      boolean fits = added - shown < CAPACITY || show();
      entries[(int) (added++ % CAPACITY)].set(completion);
      return fits;
    } finally {
      ownership.release();
    }
  }

  /** Publishes the oldest completion; returns false if there is none. */
  boolean showOne() {
    boolean overrun = false;
    boolean found;
    ownership.acquire();
    try {
      found = shown < added;
      if (found) {
        overrun = !show();
      }
    } finally {
      ownership.release();
    }
    overrunIf(overrun);
    return found;
  }

  void showAll() {
    boolean overrun = false;
    ownership.acquire();
    try {
      while (shown < added) {
        overrun |= !show();
      }
    } finally {
      ownership.release();
    }
    overrunIf(overrun);
  }

  /** Drops all completions that were not published. */
  void clear() {
    ownership.acquire();
    shown = added;
    ownership.release();
  }

  void awaitHandover() {
    ownership.awaitHandover();
  }

  /**
   * Publishes the oldest completion; returns false if the completion queue is full. Called by the
   * owner.
   */
  private boolean show() {
    CompletionEntry completion = entries[(int) (shown++ % CAPACITY)];
    EmulatedCompletionQueue queue = pair.receiveCompletions();
    long position = queue.claim();
    if (position == CompletionRing.OVERRUN) {
      return false;
    }
    queue.publish(position, completion);
    return true;
  }

  private void overrunIf(boolean overrun) {
    if (overrun) {
      pair.receiveCompletions().overrun();
    }
  }
}
