// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;

/**
 * The listener for datagrams of a service. Called by the driver of the agent; it must not call the
 * agent back.
 */
public interface ServiceListener {

  /**
   * Takes a question for the queue pair that serves datagrams.
   *
   * @param resolution the resolution to answer
   * @param request the request
   * @return false to leave the request without an answer, so that the peer repeats it
   */
  boolean asked(ServiceResolution resolution, ServiceRequest request);
}
