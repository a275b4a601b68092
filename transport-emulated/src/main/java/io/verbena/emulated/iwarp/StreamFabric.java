// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.lock.LockWorkspace;
import java.nio.ByteBuffer;

/** The fabric of streams, as they use it; for those who have entered it. */
public interface StreamFabric {

  /** Returns the time of its deadlines. */
  Timeline time();

  /** Wakes the thread that sleeps, which may not know of an alarm that was set. */
  void wake();

  /** Returns a buffer for bytes that are dropped. */
  ByteBuffer waste();

  /** Returns the workspace in which records are sealed and opened. */
  LockWorkspace workspace();

  /** Notes that a queue pair has the stream from now on. */
  void runs(TcpStream stream);

  /** Notes that no queue pair has the stream any more. */
  void stops(TcpStream stream);

  /** Notes that a program has the request of a passive stream, or that none ever will. */
  void notHalfOpen();

  /** Closes the socket of a stream that is over. */
  void closed(TcpStream stream);
}
