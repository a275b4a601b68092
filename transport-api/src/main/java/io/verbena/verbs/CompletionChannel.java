// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A place where a thread sleeps until one of several completion queues has an event. Waiting is for
 * one thread at a time; {@link #wakeup} may come from any.
 */
public interface CompletionChannel extends AutoCloseable {

  /**
   * Waits for an event. Each one that is returned must be {@linkplain
   * CompletionQueue#acknowledgeEvents acknowledged}.
   *
   * @param timeoutNanos how long to wait at the most; 0 to look only
   * @return the completion queue that had been armed, or null when the time is over, when {@link
   *     #wakeup} was called or when the channel was closed; a device that has failed tells nothing
   *     here, but to {@link ConnectionManager#await}
   */
  @Nullable CompletionQueue await(long timeoutNanos) throws InterruptedException;

  /**
   * Calls {@code listener} when an event comes, for a thread that sleeps elsewhere, in a selector
   * perhaps; {@link #await} then returns the event. There is one listener: the last.
   *
   * @param listener called by the thread that raises the event, which may be one that posts: does
   *     not block, throw or use the HCA. It may be called without an event
   * @return false if the provider cannot call it; then a thread has to {@link #await}
   */
  default boolean listen(Runnable listener) {
    return false;
  }

  /** Wakes the waiting thread, or else the next one that would wait. */
  void wakeup();

  /**
   * Closes the channel.
   *
   * @throws VerbsException {@code BUSY} while completion queues use it
   */
  @Override
  void close();
}
