package io.verbena.tools.perf;

/** What one queue pair has under way in a bandwidth test. Allocates nothing. One thread. */
final class Lane {
  private final long[] posts;
  private long posted;
  private long completed;
  private boolean ended;

  /**
   * @param depth messages under way at once
   */
  Lane(int depth) {
    posts = new long[depth];
  }

  /** Whether another message may be posted. */
  boolean hasRoom() {
    return !ended && posted - completed < posts.length;
  }

  /** One is posted; answers its number, from 1. */
  long post(long now) {
    posts[(int) (posted % posts.length)] = now;
    return ++posted;
  }

  /** No other is posted. */
  void end() {
    ended = true;
  }

  boolean isDone() {
    return ended && completed == posted;
  }

  /** Another is completed; answers when it was posted. */
  long complete() {
    return posts[(int) (completed++ % posts.length)];
  }

  /** How many have completed. */
  long completed() {
    return completed;
  }
}
