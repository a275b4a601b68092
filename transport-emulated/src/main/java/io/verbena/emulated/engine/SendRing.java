// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.verbs.SendWorkRequest;

/**
 * The send queue of an engine: slots that hold copies of posted requests, by position. Positions
 * count up from 0 forever; a slot is reused for later positions.
 *
 * <p>The engine reads a request, again for each retransmission, until it has completed it or, if it
 * succeeds unsignaled, until it has completed a later one: the queue must not use the slot again
 * before the completion of that one is polled.
 */
public interface SendRing {

  /** Returns one past the position of the last request that was posted. */
  long posted();

  /**
   * Returns the request at {@code position}, which must not be freed yet and be before {@link
   * #posted}. Its inline data is a copy, too. {@link SendWorkRequest#SIGNALED} is set also if the
   * queue pair signals all.
   */
  SendWorkRequest request(long position);
}
