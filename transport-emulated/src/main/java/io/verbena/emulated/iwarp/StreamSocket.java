// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

/**
 * A socket of TCP as a stream uses it: nothing of it blocks. For those who have entered the fabric,
 * which tells the stream what its socket is {@linkplain TcpStream#ready ready} for.
 */
public interface StreamSocket {

  /** What comes from the peer. */
  ScatteringByteChannel input();

  /** What goes to the peer. */
  GatheringByteChannel output();

  /**
   * Finishes a connect.
   *
   * @return false if it takes longer
   * @throws IOException if it has failed, {@link java.net.ConnectException} if nobody listens there
   */
  boolean finishConnect() throws IOException;

  /** What the stream is to be told of from now on: operations of a selection key. */
  void interest(int operations);

  /** Sends no more: the peer is told once it has all that was written. */
  void shutdownOutput() throws IOException;

  /** The address of this end. */
  InetSocketAddress local();

  /** The address of the peer; of a socket that is connected. */
  InetSocketAddress remote();

  /** Has {@link #close} drop what the peer was not sent yet, and tell the peer so by a reset. */
  void resetAtClose();

  /** Closes it, at once. */
  void close() throws IOException;
}
