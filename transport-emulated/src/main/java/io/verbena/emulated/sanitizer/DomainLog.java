// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.ProtectionDomain;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The log of one protection domain. It knows whether all peers that could access the domain's
 * memory are watched, too.
 */
final class DomainLog {
  final DeviceLog device;
  final ProtectionDomain domain;
  private final Set<QueuePairLog> queuePairs = ConcurrentHashMap.newKeySet();
  private volatile boolean hasUnwatchedPeers;

  DomainLog(DeviceLog device, ProtectionDomain domain) {
    this.device = device;
    this.domain = domain;
  }

  void add(QueuePairLog queuePair) {
    queuePairs.add(queuePair);
  }

  void remove(QueuePairLog queuePair) {
    queuePairs.remove(queuePair);
  }

  /** Notes that a peer that is not watched could access the domain's memory. */
  void noteUnwatchedPeer() {
    hasUnwatchedPeers = true;
  }

  /** Returns whether all peers that could access the domain's memory are watched. */
  boolean sawAllPeers() {
    queuePairs.forEach(QueuePairLog::peer);
    return !hasUnwatchedPeers;
  }
}
