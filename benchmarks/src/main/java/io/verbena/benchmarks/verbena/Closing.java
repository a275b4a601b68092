// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import java.util.Deque;

/** Closes all resources in order and throws the first failure. */
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
