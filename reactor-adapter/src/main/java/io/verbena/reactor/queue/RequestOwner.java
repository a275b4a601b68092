// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import java.time.Duration;

/**
 * The owner of a work request in the send queue. Called on the loop; {@link #succeeded} or {@link
 * #failed} is called once, when the request ends.
 */
public interface RequestOwner {

  /** Returns the name of the operation, for errors. */
  String operation();

  /**
   * Called before the connection ends because the HCA takes too long; the request is flushed then.
   */
  void overdue(RdmaException error);

  /** Returns the error of the connection if the HCA takes longer than {@code limit}. */
  default RdmaException overdueError(String peer, Duration limit) {
    return new RdmaTimeoutException(
        operation(), peer, "the HCA did not complete it within " + limit);
  }

  /** Called when the request has succeeded. */
  void succeeded();

  /** Called when the request has failed or was flushed; the HCA has released its buffers. */
  void failed(RdmaException error);
}
