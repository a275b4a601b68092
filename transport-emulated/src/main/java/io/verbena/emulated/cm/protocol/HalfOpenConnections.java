// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Connections that peers have requested and that are not established yet, within limits. A REQ with
 * a forged sender costs that sender nothing and this end a queue pair.
 */
final class HalfOpenConnections {
  private final CountByAddress<PassiveCommunication> count;

  /**
   * Connections whose peers were sent a REP and have not proven yet that they got it, the oldest
   * first.
   */
  private final Set<PassiveCommunication> unproven = new LinkedHashSet<>();

  private final Map<Name, PassiveCommunication> byName = new HashMap<>();

  /** A connection's name at an IP address. */
  private record Name(Gid address, int id) {}

  HalfOpenConnections(PeerLimits limits) {
    count = new CountByAddress<>(limits.halfOpen(), limits.halfOpenPerPeer());
  }

  /**
   * Returns whether one more from an address is within the limits. If all places are taken, the
   * oldest connection with an unproven peer gives its place, if that peer has been silent for long.
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
    return unproven.iterator().next().giveWay();
  }

  void add(PassiveCommunication communication, Gid address) {
    count.add(communication, address);
    byName.put(new Name(address, communication.remoteId()), communication);
  }

  /** Returns the latest connection with this name at an IP address; the UDP port does not count. */
  @Nullable PassiveCommunication find(Gid address, int remoteId) {
    return byName.get(new Name(address, remoteId));
  }

  /** Notes that its REP is sent. */
  void replied(PassiveCommunication communication) {
    unproven.add(communication);
  }

  /** Notes that its peer has sent what only the receiver of the REP knows. */
  void proven(PassiveCommunication communication) {
    unproven.remove(communication);
  }

  /** Removes a connection that is established, or over. Idempotent. */
  void remove(PassiveCommunication communication) {
    unproven.remove(communication);
    Gid address = count.address(communication);
    if (address != null) {
      count.remove(communication);
      byName.remove(new Name(address, communication.remoteId()), communication);
    }
  }
}
