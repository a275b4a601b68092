// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import org.jspecify.annotations.Nullable;

/**
 * A task that a loop runs once for any number of {@link CompletionLoop#schedule} calls before the
 * run. Each task holds its own link and mark, so scheduling allocates nothing, and a queue of tasks
 * is never longer than the number of task objects.
 */
public interface LoopTask {

  /** Runs the task, on the loop's thread. The task may be scheduled again meanwhile. */
  void run();

  /**
   * Marks the task as scheduled; returns false if it was marked already. May be called by any
   * thread.
   */
  boolean markScheduled();

  /** Clears the mark, with the memory effects of a volatile read and write. */
  void clearScheduled();

  /** Returns the next task in the list; only for the loop. */
  @Nullable LoopTask nextTask();

  /** Sets the next task in the list; only for the loop. */
  void nextTask(@Nullable LoopTask next);
}
