// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A channel in which a thread sleeps until one of several completion queues has an event ({@code
 * ibv_comp_channel}). One thread at a time may wait; any thread may call {@link #wakeup}.
 */
public interface CompletionChannel extends AutoCloseable {

  /**
   * Waits for an event. The caller must {@linkplain CompletionQueue#acknowledgeEvents acknowledge}
   * each returned event.
   *
   * @param timeoutNanos the longest wait, in nanoseconds; 0 returns at once
   * @return the completion queue that had been armed, or null when the time is over, when {@link
   *     #wakeup} was called or when the channel was closed; the failure of a device is reported not
   *     here but by {@link ConnectionManager#await}
   */
  @Nullable CompletionQueue await(long timeoutNanos) throws InterruptedException;

  /**
   * Sets the one listener of the channel, in place of an earlier one, for a thread that sleeps
   * elsewhere, for example in a selector. The listener is called when an event comes; {@link
   * #await} then returns the event.
   *
   * @param listener called on the thread that raises the event, which may be in the middle of a
   *     post: must not block, throw or use the HCA; may be called without an event
   * @return false if the provider cannot call listeners; then a thread has to {@link #await}
   */
  default boolean listen(Runnable listener) {
    return false;
  }

  /** Wakes the waiting thread; if none waits, the next {@link #await} returns at once. */
  void wakeup();

  /**
   * Closes the channel.
   *
   * @throws VerbsException {@code BUSY} while completion queues use it
   */
  @Override
  void close();
}
