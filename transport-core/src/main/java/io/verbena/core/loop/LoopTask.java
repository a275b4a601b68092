package io.verbena.core.loop;

import org.jspecify.annotations.Nullable;

/**
 * Something that a loop does once for any number of {@link CompletionLoop#schedule} calls before it
 * runs. It carries its own link and its own mark, so that handing it over allocates nothing and no
 * queue of tasks can grow beyond the objects that exist.
 */
public interface LoopTask {

  /** Does it; on the loop's thread. May be scheduled again meanwhile. */
  void run();

  /** Marks it as scheduled; answers false if it was. From any thread. */
  boolean markScheduled();

  /** Takes the mark away, with the memory effects of a volatile read and write. */
  void clearScheduled();

  /** The link of the list that it stands in; for the loop alone. */
  @Nullable LoopTask nextTask();

  /** Sets the link; for the loop alone. */
  void nextTask(@Nullable LoopTask next);
}
