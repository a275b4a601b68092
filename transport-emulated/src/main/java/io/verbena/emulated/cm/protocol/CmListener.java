// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.crypto.SharedSecret;
import org.jspecify.annotations.Nullable;

/**
 * The listener of a service. Called by the driver of the agent, within calls to the agent; must not
 * call the agent.
 */
public interface CmListener {

  /**
   * Returns the key that peers must have; null to accept only requests without a lock. The agent
   * rejects a request without a proof of the key, and does not call {@link #requested}.
   */
  default @Nullable SharedSecret key() {
    return null;
  }

  /**
   * Handles a request for a connection.
   *
   * @param communication this end of the connection
   * @param request the request
   * @return the user of this end from now on; null to leave the request unanswered, so that the
   *     peer repeats it
   */
  @Nullable CmUser requested(Communication communication, Request request);
}
