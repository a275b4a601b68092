// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Request;
import org.jspecify.annotations.Nullable;

/** Who listens on a service. Called by the driver of the agent; calls nothing back. */
public interface CmListener {

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
