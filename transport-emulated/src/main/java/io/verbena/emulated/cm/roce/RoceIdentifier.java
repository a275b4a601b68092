// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.NotingIdentifier;
import io.verbena.verbs.Gid;
import io.verbena.verbs.PortSpace;
import java.net.InetSocketAddress;

/** An identifier over a wire, with the addresses of both ends. */
abstract sealed class RoceIdentifier extends NotingIdentifier
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
   * @param service the port that is asked; an end that asks takes one of {@link SourcePorts}
   *     instead, and gives it back at the end
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
    // Only now: an identifier that a closed manager refuses would not give its port back.
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
