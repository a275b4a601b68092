// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** A peer that accepts a TCP connection and sends the bytes that the test writes. */
final class ForeignServer implements ForeignEnd, AutoCloseable {
  final Caller caller = new Caller(ForeignPeer.ANY);
  private final ServerSocket server =
      new ServerSocket(0, 1, InetAddress.getByName(Loopbacks.ADDRESS));

  /** Null until the peer has accepted a TCP connection. */
  private @Nullable Socket socket;

  ForeignServer() throws IOException {
    server.setSoTimeout(ForeignPeer.TIMEOUT);
  }

  /**
   * Makes a caller connect to this peer by TCP; the request is still unread.
   *
   * @param options options of the caller's address
   */
  ConnectionIdentifier connect(String options) throws Exception {
    ConnectionIdentifier active =
        caller.resolve(
            URI.create("iwarp://" + Loopbacks.ADDRESS + ":" + server.getLocalPort() + options));
    active.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
    Socket accepted = server.accept();
    accepted.setSoTimeout(ForeignPeer.TIMEOUT);
    socket = accepted;
    return active;
  }

  @Override
  public Socket socket() {
    Socket accepted = socket;
    if (accepted == null) {
      throw new IllegalStateException("nobody has connected");
    }
    return accepted;
  }

  @Override
  public void close() throws IOException {
    if (socket != null) {
      socket.close();
    }
    server.close();
    caller.close();
  }
}
