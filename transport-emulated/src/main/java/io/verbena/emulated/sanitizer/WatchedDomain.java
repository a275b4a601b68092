// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.ProtectionDomain;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the sanitizer knows of one protection domain, and whether all peers that could access the
 * domain's memory are watched, too.
 */
final class WatchedDomain {
  final WatchedDevice device;
  final ProtectionDomain domain;
  private final Set<WatchedQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
  private volatile boolean hasUnwatchedPeers;

  WatchedDomain(WatchedDevice device, ProtectionDomain domain) {
    this.device = device;
    this.domain = domain;
  }

  void add(WatchedQueuePair queuePair) {
    queuePairs.add(queuePair);
  }

  void remove(WatchedQueuePair queuePair) {
    queuePairs.remove(queuePair);
  }

  /** Notes that a peer that is not watched could access the domain's memory. */
  void noteUnwatchedPeer() {
    hasUnwatchedPeers = true;
  }

  /** Returns whether all peers that could access the domain's memory are watched. */
  boolean sawAllPeers() {
    queuePairs.forEach(WatchedQueuePair::peer);
    return !hasUnwatchedPeers;
  }
}
