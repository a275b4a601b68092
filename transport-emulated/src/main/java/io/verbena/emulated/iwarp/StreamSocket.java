// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

/**
 * A TCP socket as a stream uses it: no method blocks. For threads that have entered the fabric. The
 * fabric calls {@link TcpStream#ready} when the socket is ready.
 */
public interface StreamSocket {

  /** Returns the channel from the peer. */
  ScatteringByteChannel input();

  /** Returns the channel to the peer. */
  GatheringByteChannel output();

  /**
   * Finishes connecting.
   *
   * @return false if the socket is not connected yet
   * @throws IOException if the connection failed, with the JDK's type and message for the kernel's
   *     error
   */
  boolean finishConnect() throws IOException;

  /** Sets the operations, those of a selection key, whose readiness is reported to the stream. */
  void interest(int operations);

  /** Ends sending: the peer sees the end after all bytes that were written. */
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

  /** Closes the socket at once. */
  void close() throws IOException;
}
