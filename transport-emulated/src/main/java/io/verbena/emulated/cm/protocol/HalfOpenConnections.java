// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Connections that peers have asked for and that are not established yet, within limits. A REQ in
 * another's name costs its sender nothing and this end a queue pair.
 */
final class HalfOpenConnections {
  private final CountByAddress<PassiveCommunication> count;

  /** Those whose peers have been sent a REP and have shown nothing of it, the oldest first. */
  private final Set<PassiveCommunication> unproven = new LinkedHashSet<>();

  private final Map<Name, PassiveCommunication> byName = new HashMap<>();

  /** What a connection is called by somebody at an IP address. */
  private record Name(Gid address, int id) {}

  HalfOpenConnections(PeerLimits limits) {
    count = new CountByAddress<>(limits.halfOpen(), limits.halfOpenPerPeer());
  }

  /**
   * Whether one more from an address is within the limits. Where all places are taken, the oldest
   * makes room whose peer is silent for longer than peers are.
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

  /** The latest that somebody at an IP address calls so; the UDP port does not count. */
  @Nullable PassiveCommunication find(Gid address, int remoteId) {
    return byName.get(new Name(address, remoteId));
  }

  /** Its REP is sent. */
  void replied(PassiveCommunication communication) {
    unproven.add(communication);
  }

  /** Its peer has shown what only the receiver of the REP knows. */
  void proven(PassiveCommunication communication) {
    unproven.remove(communication);
  }

  /** It is established, or over. Idempotent. */
  void remove(PassiveCommunication communication) {
    unproven.remove(communication);
    Gid address = count.address(communication);
    if (address != null) {
      count.remove(communication);
      byName.remove(new Name(address, communication.remoteId()), communication);
    }
  }
}
