// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.ConnectionEvent;

/**
 * Receives the one result of a service ID resolution. Called by the driver of the agent, within
 * calls to the agent; must not call the agent, but only take notes.
 */
public interface ServiceUser {

  /** Called when an answer arrives; it may be a refusal. */
  void answered(CmMessage.ServiceReply reply);

  /**
   * Called when no answer arrives in time.
   *
   * @param why {@link ConnectionEvent#TIMED_OUT} or {@link ConnectionEvent#NO_HCA}
   */
  void unreachable(int why);
}
