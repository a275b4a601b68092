// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.lock.LockKey;
import org.jspecify.annotations.Nullable;

/**
 * The listener of a service. Called by the driver of the agent; it must not call the agent back.
 */
public interface CmListener {

  /**
   * Returns the key that peers must have: a request without proof of it is refused, and the
   * listener not called. Null to take only requests without a lock.
   */
  default @Nullable LockKey key() {
    return null;
  }

  /**
   * Takes a request for a connection.
   *
   * @param communication this end of it
   * @param request the request
   * @return the user of this end from now on; null to leave the request without an answer, so that
   *     the peer repeats it
   */
  @Nullable CmUser requested(Communication communication, Request request);
}
