package io.verbena.core.loop;

import io.verbena.verbs.WorkCompletion;

/** Who completions are for. */
public interface CompletionTarget {

  /**
   * A work request of this target completed; on the thread that polls. Must not throw.
   *
   * @param completion the poller's, overwritten after the call
   */
  void completed(WorkCompletion completion);
}
