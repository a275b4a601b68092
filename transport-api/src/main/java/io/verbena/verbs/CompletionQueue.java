// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The queue that work completions arrive in. Completions that do not fit are lost: the device
 * raises {@link AsyncEvent.Type#CQ_ERR}, and the queue pairs concerned go into the error state.
 */
public interface CompletionQueue extends AutoCloseable {

  /** Returns the number of completions that the queue can hold. */
  int depth();

  /** Returns the channel for the queue's events, or null. */
  @Nullable CompletionChannel channel();

  /**
   * Takes completions, oldest first. Allocates nothing and never waits.
   *
   * @param completions filled from index 0; the elements belong to the caller and are overwritten
   * @return the number of completions taken
   */
  int poll(WorkCompletion[] completions);

  /**
   * Requests one event at the next completion. Completions that arrived before need not raise the
   * event: arm, then {@linkplain #poll poll} once more before sleeping.
   *
   * @param solicitedOnly whether only receives whose sender set {@link SendWorkRequest#SOLICITED},
   *     and errors, raise the event
   * @throws VerbsException {@code INVALID} without a channel
   */
  void arm(boolean solicitedOnly);

  /** Acknowledges events that {@link CompletionChannel#await} returned for this queue. */
  void acknowledgeEvents(int count);

  /**
   * Changes the depth.
   *
   * @param depth at least the number of completions that the queue holds now
   * @throws VerbsException {@code NOT_SUPPORTED} without {@link Capability#COMPLETION_QUEUE_RESIZE}
   */
  void resize(int depth);

  /**
   * Closes the queue.
   *
   * @throws VerbsException {@code BUSY} while queue pairs use the queue, or its events are not
   *     acknowledged
   */
  @Override
  void close();
}
