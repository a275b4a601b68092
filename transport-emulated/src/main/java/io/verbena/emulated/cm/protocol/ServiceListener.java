// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;

/**
 * The listener for datagrams of a service. Called by the driver of the agent, within calls to the
 * agent; must not call the agent.
 */
public interface ServiceListener {

  /**
   * Handles a request for the queue pair that serves datagrams.
   *
   * @param resolution the resolution, by which the listener answers later
   * @param request the request
   * @return false to leave the request unanswered, so that the peer repeats it
   */
  boolean asked(ServiceResolution resolution, ServiceRequest request);
}
