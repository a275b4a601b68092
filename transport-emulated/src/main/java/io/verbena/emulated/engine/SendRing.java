// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.verbs.SendWorkRequest;

/**
 * The send queue that an engine works off: slots that hold copies of posted requests, by position.
 * Positions count from 0 for ever; a slot serves one after the other.
 *
 * <p>The engine reads a request, again for each retransmission, until it has completed it or, if it
 * succeeds unsignaled, until it has completed a later one: the queue must not use the slot again
 * before the completion of that one is polled.
 */
public interface SendRing {

  /** One past the position of the last request that was posted. */
  long posted();

  /**
   * The request at {@code position}, one not before those that were freed and before {@link
   * #posted}. Its inline data is a copy too. {@link SendWorkRequest#SIGNALED} is set also where the
   * queue pair signals all.
   */
  SendWorkRequest request(long position);
}
