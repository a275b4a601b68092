package io.verbena.benchmarks.verbena;

import java.util.Deque;

/** Closes resources in order, all of them, and tells of the first that failed. */
final class Closing {
  private Closing() {}

  static void all(Deque<AutoCloseable> resources) {
    IllegalStateException failure = null;
    while (!resources.isEmpty()) {
      try {
        resources.pop().close();
      } catch (Exception e) {
        if (failure == null) {
          failure = new IllegalStateException("close failed", e);
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
