// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.verbs.SendWorkRequest;

/**
 * The send queue of an engine: slots with copies of posted requests, by position. Positions count
 * up from 0 without end; a slot is reused for later positions.
 *
 * <p>The engine may read a request again for each retransmission, until it completes that request
 * or, if the request succeeds unsignaled, a later one. The queue must not reuse the slot before the
 * program has polled that completion.
 */
public interface SendRing {

  /** Returns one past the position of the last request that was posted. */
  long posted();

  /**
   * Returns the request at {@code position}, which must be before {@link #posted} and not freed.
   * Its inline data is a copy, too. {@link SendWorkRequest#SIGNALED} is also set if the queue pair
   * signals all requests.
   */
  SendWorkRequest request(long position);
}
