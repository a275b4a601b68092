// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

/**
 * The state of a connection. Any thread may read it, without a lock: a reading may be a moment old.
 */
public interface ConnectionState {

  /** Returns the work requests in the send queue that are not known to be done. */
  int sendQueueDepth();

  /** Returns the most that the send queue holds. */
  int sendQueueLimit();

  /** Returns the peer's unused credits, of a kind that the {@link MeteredHca} has. */
  int credits(Credit kind);
}
