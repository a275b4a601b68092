// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/** A task that runs once, after a delay. */
public interface Scheduled {
  /** Keeps the task from running, and forgets it, unless it runs already; for any thread. */
  void cancel();
}
