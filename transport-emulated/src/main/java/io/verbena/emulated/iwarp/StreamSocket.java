// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

/**
 * A TCP socket as a stream uses it: no method blocks. For those who have entered the fabric, which
 * tells the stream when its socket is {@linkplain TcpStream#ready ready}.
 */
public interface StreamSocket {

  /** Returns the channel from the peer. */
  ScatteringByteChannel input();

  /** Returns the channel to the peer. */
  GatheringByteChannel output();

  /**
   * Finishes connecting.
   *
   * @return false if it takes longer
   * @throws IOException if it has failed, with the JDK's types and messages for the kernel's errors
   */
  boolean finishConnect() throws IOException;

  /**
   * Sets the operations for which the stream is told when they are ready: those of a selection key.
   */
  void interest(int operations);

  /** Ends sending: the peer sees the end once it has all that was written. */
  void shutdownOutput() throws IOException;

  /** Returns the address of this end. */
  InetSocketAddress local();

  /** Returns the address of the peer; for a connected socket. */
  InetSocketAddress remote();

  /**
   * Makes {@link #close} drop the bytes not sent yet, and reset the connection, which the peer
   * sees.
   */
  void resetAtClose();

  /** Closes it at once. */
  void close() throws IOException;
}
