// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.lock.LockKey;
import org.jspecify.annotations.Nullable;

/** Who listens on a service. Called by the driver of the agent; calls nothing back. */
public interface CmListener {

  /**
   * The key that those who ask must have: a request that does not show it is refused, and the
   * listener not told. Null to take requests without a lock, and no others.
   */
  default @Nullable LockKey key() {
    return null;
  }

  /**
   * Somebody asks for a connection.
   *
   * @param communication this end of it
   * @param request what it asks
   * @return who has this end from now on; null to leave the request without an answer, so that it
   *     comes again
   */
  @Nullable CmUser requested(Communication communication, Request request);
}
