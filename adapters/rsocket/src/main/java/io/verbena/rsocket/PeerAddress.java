// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static java.util.Objects.requireNonNull;

import java.net.SocketAddress;

/** The peer's address as its provider formats it. */
public final class PeerAddress extends SocketAddress {
  private static final long serialVersionUID = 1L;

  /** The address as the provider formats it. */
  private final String peer;

  PeerAddress(String peer) {
    this.peer = requireNonNull(peer, "peer");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PeerAddress address && address.peer.equals(peer);
  }

  @Override
  public int hashCode() {
    return peer.hashCode();
  }

  @Override
  public String toString() {
    return peer;
  }
}
