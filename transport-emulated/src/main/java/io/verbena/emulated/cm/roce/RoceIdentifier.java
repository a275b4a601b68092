// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.DrivenIdentifier;
import io.verbena.verbs.Gid;
import io.verbena.verbs.PortSpace;
import java.net.InetSocketAddress;

/**
 * One end of a connection or of a datagram resolution over a wire, with the addresses of both ends.
 */
abstract sealed class RoceIdentifier extends DrivenIdentifier
    permits RoceConnection, RoceDatagrams {
  static final int DEFAULT_PARTITION = 0xffff;

  final Gid peer;
  final int peerPort;
  final int ownPort;

  private final RoceConnectionManager manager;
  private final String peerName;
  private final boolean asks;

  /**
   * Creates an identifier.
   *
   * @param service the port of a passive end; ignored at an active end, which takes a port of
   *     {@link SourcePorts} until it is closed
   */
  RoceIdentifier(
      RoceConnectionManager manager,
      PortSpace space,
      Gid peer,
      int peerPort,
      String peerName,
      int service,
      State state) {
    super(manager, space, state);
    this.manager = manager;
    this.peer = peer;
    this.peerPort = peerPort;
    this.peerName = peerName;
    asks = state == State.RESOLVED;
    manager.opened(RoceConnectionManager.Kind.IDENTIFIER);
    // Taken only now: if a closed manager refuses the identifier above, nothing would return the
    // port.
    ownPort = asks ? manager.sourcePorts().take() : service;
  }

  @Override
  public final RoceConnectionManager manager() {
    return manager;
  }

  @Override
  public final String peer() {
    return peerName;
  }

  @Override
  public final InetSocketAddress localAddress() {
    return RoceConnectionManager.socketAddress(manager.gid(), ownPort);
  }

  @Override
  public final InetSocketAddress remoteAddress() {
    return RoceConnectionManager.socketAddress(peer, peerPort);
  }

  @Override
  protected final void released() {
    if (asks) {
      manager.sourcePorts().giveBack(ownPort);
    }
  }
}
