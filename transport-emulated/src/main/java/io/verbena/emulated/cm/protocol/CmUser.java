// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.ConnectionEvent;

/**
 * Who has one end of a connection, and is told what becomes of it. Called by the driver of the
 * agent, within calls to it; calls neither the agent nor a queue pair back, but takes notes.
 */
public interface CmUser {

  /** Active end: the peer accepts; {@link Communication#ready} or a reject is to follow. */
  default void replied(CmMessage.Reply reply) {}

  /** Passive end: the peer is ready. */
  default void established() {}

  /** The peer refuses, or has given up, before the connection was established. */
  void rejected(CmMessage.Reject reject);

  /**
   * The peer did not answer in time, or asks no more and was not answered.
   *
   * @param why {@link ConnectionEvent#TIMED_OUT}, or {@link ConnectionEvent#NO_HCA}
   */
  void unreachable(int why);

  /** The peer has ended the connection that was established. */
  void disconnected();
}
