// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.ProtectionDomain;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A protection domain; it knows whether all peers that could access its memory are watched, too.
 */
final class DomainLog {
  final DeviceLog device;
  final ProtectionDomain domain;
  private final Set<QueuePairLog> queuePairs = ConcurrentHashMap.newKeySet();
  private volatile boolean hasStrangers;

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
  void metStranger() {
    hasStrangers = true;
  }

  /** Returns whether every use of the domain's memory by peers was seen. */
  boolean sawAllPeers() {
    queuePairs.forEach(QueuePairLog::peer);
    return !hasStrangers;
  }
}
