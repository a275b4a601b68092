// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import java.util.Set;

/** The queue pair attributes of the transitions from RESET to RTS. */
final class TransitionAttributes {
  /** The code of 0.64 ms. */
  static final int RNR_TIMER = 12;

  /** The queue key of datagrams. */
  static final int QUEUE_KEY = 0x1357_9bdf;

  /** The code of 67 ms. */
  static final int TIMEOUT = 14;

  private TransitionAttributes() {}

  /** Returns the address vector of a device's port: by its GID, or, on InfiniBand, by its LID. */
  static AddressVector wayTo(Device peer) {
    PortAttributes port = peer.port();
    return port.lid() == 0 ? AddressVector.to(port.gids().get(0)) : AddressVector.toLid(port.lid());
  }

  static QueuePairAttributes toInit(Device local, Set<Access> access) {
    return toInit(local).access(access);
  }

  static QueuePairAttributes toInit(QueuePairType type, Device local, Set<Access> access) {
    return type == QueuePairType.UD ? toInit(local).queueKey(QUEUE_KEY) : toInit(local, access);
  }

  private static QueuePairAttributes toInit(Device local) {
    return toState(QueuePairState.INIT).pkeyIndex(0).port(local.port().number());
  }

  static QueuePairAttributes toReadyToReceive(
      QueuePairType type, Device local, Device peer, int peerNumber, int peerPsn) {
    return switch (type) {
      case RC -> toReadyToReceive(local, peer, peerNumber, peerPsn);
      case UC ->
          toState(QueuePairState.RTR)
              .addressVector(wayTo(peer))
              .pathMtu(local.port().activeMtu())
              .destinationQueuePair(peerNumber)
              .receivePsn(peerPsn);
      case UD -> toState(QueuePairState.RTR);
    };
  }

  static QueuePairAttributes toReadyToSend(QueuePairType type, Device local, int psn) {
    return type == QueuePairType.RC
        ? toReadyToSend(local, psn)
        : toState(QueuePairState.RTS).sendPsn(psn);
  }

  static QueuePairAttributes toReadyToReceive(
      Device local, Device peer, int peerNumber, int peerPsn) {
    return new QueuePairAttributes()
        .state(QueuePairState.RTR)
        .addressVector(wayTo(peer))
        .pathMtu(local.port().activeMtu())
        .destinationQueuePair(peerNumber)
        .receivePsn(peerPsn)
        .maxDestinationReadAtomic(Math.min(16, local.attributes().maxReadAtomicAsResponder()))
        .minRnrTimer(RNR_TIMER);
  }

  static QueuePairAttributes toReadyToSend(Device local, int psn) {
    return new QueuePairAttributes()
        .state(QueuePairState.RTS)
        .timeout(TIMEOUT)
        .retryCount(7)
        .rnrRetry(7)
        .sendPsn(psn)
        .maxReadAtomic(Math.min(16, local.attributes().maxReadAtomicAsInitiator()));
  }

  static QueuePairAttributes toState(QueuePairState state) {
    return new QueuePairAttributes().state(state);
  }
}
