// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.engine.Timeline;
import java.nio.ByteBuffer;

/** What streams need of the fabric that they belong to; for those who have entered it. */
public interface StreamFabric {

  /** The time of its deadlines. */
  Timeline time();

  /** An alarm was set that whoever sleeps may not know of. */
  void wake();

  /** Where bytes go that nobody wants. */
  ByteBuffer waste();

  /** A queue pair has the stream from now on. */
  void runs(TcpStream stream);

  /** No queue pair has it any more. */
  void stops(TcpStream stream);

  /** A program has the request of a passive stream, or nobody ever will. */
  void notHalfOpen();

  /** The stream is over: its socket is to be closed. */
  void closed(TcpStream stream);
}
