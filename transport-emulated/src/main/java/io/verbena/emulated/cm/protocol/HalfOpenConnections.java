// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The connections that peers have requested and that are not established yet. Their number is
 * limited, since a REQ with a forged source address costs its sender nothing but this end a queue
 * pair.
 */
final class HalfOpenConnections {
  private final CountByAddress<PassiveCommunication> count;

  /** Connections with a REP whose receipt the peer has not proven yet, the oldest first. */
  private final Set<PassiveCommunication> unproven = new LinkedHashSet<>();

  private final Map<Name, PassiveCommunication> byName = new HashMap<>();

  /** The key of a connection: the peer's IP address and connection id. */
  private record Name(Gid address, int id) {}

  HalfOpenConnections(PeerLimits limits) {
    count = new CountByAddress<>(limits.halfOpen(), limits.halfOpenPerPeer());
  }

  /**
   * Returns whether another connection from an address is within the limits. If the total limit is
   * reached, ends the oldest connection with an unproven peer, if that peer has been silent for
   * long.
   */
  boolean hasRoom(Gid address) {
    if (count.isFull(address)) {
      return false;
    }
    if (!count.isFull()) {
      return true;
    }
    if (unproven.isEmpty()) {
      return false;
    }
    return unproven.iterator().next().endIfSilent();
  }

  void add(PassiveCommunication communication, Gid address) {
    count.add(communication, address);
    byName.put(new Name(address, communication.remoteId()), communication);
  }

  /**
   * Returns the latest connection with this id at an IP address, whatever the UDP port; null if
   * there is none.
   */
  @Nullable PassiveCommunication find(Gid address, int remoteId) {
    return byName.get(new Name(address, remoteId));
  }

  /** Notes that the REP of a connection is sent. */
  void replied(PassiveCommunication communication) {
    unproven.add(communication);
  }

  /**
   * Notes that the peer of a connection has sent a message that only the receiver of the REP can
   * send.
   */
  void proven(PassiveCommunication communication) {
    unproven.remove(communication);
  }

  /** Removes a connection that is established or has ended. Idempotent. */
  void remove(PassiveCommunication communication) {
    unproven.remove(communication);
    Gid address = count.address(communication);
    if (address != null) {
      count.remove(communication);
      byName.remove(new Name(address, communication.remoteId()), communication);
    }
  }
}
