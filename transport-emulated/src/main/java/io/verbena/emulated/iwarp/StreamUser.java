// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.iwarp.frame.MpaFrame;

/**
 * The user of a stream: one end of a connection. Called by the driver of the fabric. A method must
 * not call back, but only records the event.
 */
public interface StreamUser {

  /** Active end: the peer has accepted; the stream waits for {@link IwarpQueuePair#connect}. */
  void accepted(MpaFrame reply);

  /** Active end: the peer's program has refused. The stream is closed. */
  void refused(MpaFrame reply);

  /** Active end: the address has no listener. The stream is closed. */
  void nobodyListens();

  /**
   * Either end: the connection failed before it was established. The stream is closed.
   *
   * @param errno the reason, as a negative errno
   */
  void failed(int errno);

  /** Passive end: the first FPDU has come. */
  void established();

  /** The established connection is gone. */
  void ended();
}
