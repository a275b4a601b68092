// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;

/** Who serves datagrams. Called by the driver of the agent; calls nothing back. */
public interface ServiceListener {

  /**
   * Somebody asks for the queue pair that serves them.
   *
   * @param resolution to be answered
   * @param request what it asks
   * @return false to leave the request without an answer, so that it comes again
   */
  boolean asked(ServiceResolution resolution, ServiceRequest request);
}
