// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.iwarp.frame.MpaFrame;

/**
 * The user of a stream: one end of a connection. Called by the driver of the fabric; it must not
 * call back, but takes notes.
 */
public interface StreamUser {

  /** Active end: the peer accepts; the stream waits for {@link IwarpQueuePair#connect}. */
  void accepted(MpaFrame reply);

  /** Active end: the peer's program refuses. The stream is closed. */
  void refused(MpaFrame reply);

  /** Active end: nobody listens at the address. The stream is closed. */
  void nobodyListens();

  /**
   * Either end, before the connection is established: it failed, and the stream is closed.
   *
   * @param errno the reason, negative
   */
  void failed(int errno);

  /** Passive end: the first FPDU has come. */
  void established();

  /** The established connection is gone. */
  void ended();
}
