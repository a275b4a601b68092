// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.ConnectionEvent;

/**
 * The user of one end of a connection, which is told of its events. Called by the driver of the
 * agent, within calls to the agent; must call back neither the agent nor a queue pair, but takes
 * notes.
 */
public interface CmUser {

  /** Active end: the peer accepts; {@link Communication#ready} or a reject must follow. */
  default void replied(CmMessage.Reply reply) {}

  /** Passive end: the peer is ready. */
  default void established() {}

  /** The peer refuses, or has given up, before the connection was established. */
  void rejected(CmMessage.Reject reject);

  /**
   * The peer did not answer in time, or stopped asking before it was answered.
   *
   * @param why {@link ConnectionEvent#TIMED_OUT}, or {@link ConnectionEvent#NO_HCA}
   */
  void unreachable(int why);

  /** The peer has ended the established connection. */
  void disconnected();
}
