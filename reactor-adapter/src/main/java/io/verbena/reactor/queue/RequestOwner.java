// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import java.time.Duration;

/**
 * The owner of a work request in the send queue, which is called when the request ends: once, on
 * the loop.
 */
public interface RequestOwner {

  /** Returns the name of the operation, for errors. */
  String operation();

  /** The HCA takes too long; the connection is about to be given up, and the request flushed. */
  void overdue(RdmaException error);

  /** Returns what the connection ends with where the HCA takes longer than {@code limit}. */
  default RdmaException overdueError(String peer, Duration limit) {
    return new RdmaTimeoutException(
        operation(), peer, "the HCA did not complete it within " + limit);
  }

  /** The request is done. */
  void succeeded();

  /** The request failed or was flushed, and the HCA has released its buffers. */
  void failed(RdmaException error);
}
