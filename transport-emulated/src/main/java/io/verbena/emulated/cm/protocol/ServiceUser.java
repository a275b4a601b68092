// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.ConnectionEvent;

/**
 * The user of a question for a service, which is told of one result. Called by the driver of the
 * agent, within calls to the agent; must not call it back, but takes notes.
 */
public interface ServiceUser {

  /** The answer came; it may be a refusal. */
  void answered(CmMessage.ServiceReply reply);

  /**
   * No answer came.
   *
   * @param why {@link ConnectionEvent#TIMED_OUT}, or {@link ConnectionEvent#NO_HCA}
   */
  void unreachable(int why);
}
