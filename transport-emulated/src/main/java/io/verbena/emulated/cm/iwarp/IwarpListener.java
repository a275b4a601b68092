// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.cm.ManagedListener;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.emulated.iwarp.TcpSockets;
import java.io.IOException;
import java.net.InetSocketAddress;

/** A listener on a TCP port. */
final class IwarpListener extends ManagedListener {
  private final IwarpConnectionManager manager;
  private final TcpSockets.Port port;
  private final IncomingRequests requests;

  private IwarpListener(
      IwarpConnectionManager manager,
      IwarpAddress address,
      int backlog,
      TcpSockets.Port port,
      IncomingRequests requests) {
    super(address.at(port.address().getPort()), backlog);
    this.manager = manager;
    this.port = port;
    this.requests = requests;
  }

  /**
   * Listens on a TCP port.
   *
   * @throws IOException as {@link TcpSockets#listen}
   */
  static IwarpListener open(IwarpConnectionManager manager, IwarpAddress at, int backlog)
      throws IOException {
    IwarpFabric fabric = manager.fabric();
    IncomingRequests requests = new IncomingRequests(manager, at);
    // While this thread is in the fabric, no request arrives before the listener is set.
    fabric.enter();
    try {
      TcpSockets.Port port =
          fabric.sockets().listen(new InetSocketAddress(at.host(), at.port()), requests);
      IwarpListener listener = new IwarpListener(manager, at, backlog, port, requests);
      requests.start(listener);
      return listener;
    } finally {
      fabric.leave();
    }
  }

  @Override
  protected void hasRoom() {
    manager.fabric().entered(requests::passHeld);
  }

  @Override
  protected void stop() {
    manager.fabric().entered(requests::refuse);
    port.close();
    manager.closed(this);
  }
}
