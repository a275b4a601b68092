// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.engine.Timeline;
import java.nio.ByteBuffer;

/** The fabric, as its streams use it; for threads that have entered the fabric. */
public interface StreamFabric {

  /** Returns the timeline of deadlines. */
  Timeline time();

  /** Wakes the sleeping driver, which may not know of an alarm that was set. */
  void wake();

  /** Returns an empty buffer, which all streams share, for bytes that are dropped. */
  ByteBuffer waste();

  /** Returns the workspace in which records are sealed and opened. */
  CipherWorkspace workspace();

  /** Notes that a queue pair has the stream from now on. */
  void runs(TcpStream stream);

  /** Notes that no queue pair has the stream any more. */
  void stops(TcpStream stream);

  /**
   * Notes that a passive stream is no longer half-open: a program has its request, or none ever
   * will.
   */
  void notHalfOpen();

  /** Closes the socket of a stream that is over. */
  void closed(TcpStream stream);
}
