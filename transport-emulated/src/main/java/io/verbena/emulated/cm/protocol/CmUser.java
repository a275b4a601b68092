// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.ConnectionEvent;

/**
 * Receives the events of one end of a connection. Called by the driver of the agent, within calls
 * to the agent; must call neither the agent nor a queue pair, but only take notes.
 */
public interface CmUser {

  /**
   * Called at the active end when the peer accepts; {@link Communication#ready} or {@link
   * Communication#reject} must follow.
   */
  default void replied(CmMessage.Reply reply) {}

  /** Called at the passive end when the peer is ready. */
  default void established() {}

  /** Called when the peer rejects the connection, or gives up before it is established. */
  void rejected(CmMessage.Reject reject);

  /**
   * Called when the peer does not answer in time, or stops repeating its request before it is
   * answered.
   *
   * @param why {@link ConnectionEvent#TIMED_OUT} or {@link ConnectionEvent#NO_HCA}
   */
  void unreachable(int why);

  /** Called when the peer has ended the established connection. */
  void disconnected();
}
