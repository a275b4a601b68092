// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.iwarp.frame.MpaFrame;

/**
 * Whose stream it is: one end of a connection. Called by whoever drives the fabric, which calls
 * nothing back but what it notes.
 */
public interface StreamUser {

  /** Active end: the peer accepts; the stream waits for {@link IwarpQueuePair#connect}. */
  void accepted(MpaFrame reply);

  /** Active end: the peer's program refuses. The stream is closed. */
  void refused(MpaFrame reply);

  /** Active end: nobody listens there. The stream is closed. */
  void nobodyListens();

  /**
   * Before the connection is established: the stream is closed.
   *
   * @param errno negative: why
   */
  void failed(int errno);

  /** Passive end: the first FPDU has come. */
  void established();

  /** The connection was established, and is no more. */
  void ended();
}
