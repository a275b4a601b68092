// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import java.util.ArrayDeque;
import java.util.Deque;

/** Runs clean-up actions in reverse order, even if some fail. Confined to one thread. */
final class Cleanup implements AutoCloseable {
  private final Deque<Runnable> ends = new ArrayDeque<>();

  /** Adds an action, which runs before those added earlier. */
  void add(Runnable end) {
    ends.push(end);
  }

  /** Runs the actions; idempotent. Throws the first failure, with the others suppressed. */
  @Override
  public void close() {
    RuntimeException first = null;
    while (!ends.isEmpty()) {
      try {
        ends.pop().run();
      } catch (RuntimeException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
