// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import org.jspecify.annotations.Nullable;

/**
 * Work that a loop does once for any number of {@link CompletionLoop#schedule} calls before it
 * runs. A task has its own link and its own mark, so that scheduling allocates nothing and no queue
 * of tasks can grow beyond the objects that exist.
 */
public interface LoopTask {

  /** Does the work, on the loop's thread. The task may be scheduled again meanwhile. */
  void run();

  /** Marks the task as scheduled; returns false if it was. May be called by any thread. */
  boolean markScheduled();

  /** Clears the mark, with the memory effects of a volatile read and write. */
  void clearScheduled();

  /** Returns the next task in its list; only for the loop. */
  @Nullable LoopTask nextTask();

  /** Sets the next task in its list; only for the loop. */
  void nextTask(@Nullable LoopTask next);
}
