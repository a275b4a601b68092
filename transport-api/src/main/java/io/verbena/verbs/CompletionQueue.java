// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The queue that work completions arrive in. If more arrive than it holds, they are lost: a {@link
 * AsyncEvent.Type#CQ_ERR} is raised and the queue pairs concerned go into the error state.
 */
public interface CompletionQueue extends AutoCloseable {

  /** Returns how many completions it can hold. */
  int depth();

  /** Returns the channel for its events, or null. */
  @Nullable CompletionChannel channel();

  /**
   * Takes completions, oldest first. Allocates nothing and never waits.
   *
   * @param completions filled from index 0; its elements are the caller's and are overwritten
   * @return how many were taken
   */
  int poll(WorkCompletion[] completions);

  /**
   * Asks for one event at the next completion. What arrived before need not raise it: arm, then
   * {@linkplain #poll poll} once more before sleeping.
   *
   * @param solicitedOnly only for receives whose sender asked for it, and for errors
   * @throws VerbsException {@code INVALID} without a channel
   */
  void arm(boolean solicitedOnly);

  /** Acknowledges events that {@link CompletionChannel#await} returned for this queue. */
  void acknowledgeEvents(int count);

  /**
   * Changes the depth.
   *
   * @param depth never less than what the queue holds now
   * @throws VerbsException {@code NOT_SUPPORTED} without {@link Capability#COMPLETION_QUEUE_RESIZE}
   */
  void resize(int depth);

  /**
   * Closes the queue.
   *
   * @throws VerbsException {@code BUSY} while queue pairs use it, or events of it were not
   *     acknowledged
   */
  @Override
  void close();
}
