// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

/**
 * The state of a connection. Any thread may call the methods; they take no lock, so a result may be
 * a moment old.
 */
public interface ConnectionState {

  /** Returns the number of work requests in the send queue that are not known to be done. */
  int sendQueueDepth();

  /** Returns the most work requests that the send queue holds. */
  int sendQueueLimit();

  /**
   * Returns the unused credits that the peer has given, of a kind in {@link MeteredHca#credits}.
   */
  int credits(Credit kind);
}
