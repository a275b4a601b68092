// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/** A task that runs once, after a delay. */
public interface Scheduled {
  /** Cancels the task, unless it already runs. Thread-safe. */
  void cancel();
}
