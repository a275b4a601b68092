// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.ConnectionEvent;

/**
 * Who has asked for a service, and is told one thing. Called by the driver of the agent, within
 * calls to it; calls nothing back, but takes notes.
 */
public interface ServiceUser {

  /** The answer, whatever it is. */
  void answered(CmMessage.ServiceReply reply);

  /**
   * None came.
   *
   * @param why {@link ConnectionEvent#TIMED_OUT}, or {@link ConnectionEvent#NO_HCA}
   */
  void unreachable(int why);
}
