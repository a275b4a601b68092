// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/**
 * The outstanding messages of one queue pair in a bandwidth test. Allocates nothing. One thread.
 */
final class SendWindow {
  private final long[] posts;
  private long posted;
  private long completed;
  private boolean ended;

  /**
   * @param depth the most messages under way at once
   */
  SendWindow(int depth) {
    posts = new long[depth];
  }

  /** Returns whether another message may be posted. */
  boolean hasRoom() {
    return !ended && posted - completed < posts.length;
  }

  /** The number of posted messages. */
  long posted() {
    return posted;
  }

  /** Counts a posted message and returns its number, from 1. */
  long post(long now) {
    posts[(int) (posted % posts.length)] = now;
    return ++posted;
  }

  /** Marks that no further message will be posted. */
  void end() {
    ended = true;
  }

  boolean isDone() {
    return ended && completed == posted;
  }

  /** Counts a completed message and returns when it was posted. */
  long complete() {
    return posts[(int) (completed++ % posts.length)];
  }

  /** The number of completed messages. */
  long completed() {
    return completed;
  }
}
