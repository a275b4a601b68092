// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import io.verbena.RejectReason;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts the connections of a server against its limits. Thread-safe. */
public final class ConnectionSlots {
  private final Map<@Nullable InetAddress, Integer> byPeer = new HashMap<>();
  private int taken;

  /**
   * Takes a slot, which the caller gives back once by {@link #release}.
   *
   * @param peer the client's address; clients without one count as one peer
   * @param most the limit on all slots
   * @param mostPerPeer the limit on the slots of one IP address
   * @return null if a slot was taken, else the reason to refuse the connection
   */
  public synchronized @Nullable RejectReason take(
      @Nullable InetSocketAddress peer, int most, int mostPerPeer) {
    if (taken >= most) {
      return new RejectReason(
          RejectReason.CONNECTION_LIMIT, "the server has " + taken + " connections, its limit");
    }
    InetAddress host = host(peer);
    int ofPeer = byPeer.getOrDefault(host, 0);
    if (ofPeer >= mostPerPeer) {
      return new RejectReason(
          RejectReason.PEER_LIMIT,
          "the server has "
              + ofPeer
              + " connections of "
              + (host == null ? "this process" : host.getHostAddress())
              + ", its limit for a peer");
    }
    taken++;
    byPeer.put(host, ofPeer + 1);
    return null;
  }

  /** Gives a slot back. */
  public synchronized void release(@Nullable InetSocketAddress peer) {
    taken--;
    byPeer.computeIfPresent(host(peer), (host, count) -> count == 1 ? null : count - 1);
  }

  /** Returns the number of taken slots. */
  public synchronized int taken() {
    return taken;
  }

  private static @Nullable InetAddress host(@Nullable InetSocketAddress peer) {
    return peer == null ? null : peer.getAddress();
  }
}
