// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DatagramPeer;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.EnumSet;

/**
 * Creates queue pairs, and changes their states, for connection managers, as {@code rdma_create_qp}
 * does.
 */
public final class ManagedQueuePair {
  private ManagedQueuePair() {}

  /**
   * Creates a queue pair, and moves it as far as possible without a peer: RC to INIT, UD to RTS.
   */
  public static EmulatedQueuePair create(
      EmulatedDevice device, PortSpace space, ProtectionDomain domain, QueuePairOptions options) {
    if (domain.device() != device) {
      throw invalid("the protection domain is another device's");
    }
    if (options.type() != space.type()) {
      throw invalid("type: " + options.type() + " (expected: " + space.type() + ")");
    }
    EmulatedQueuePair pair = (EmulatedQueuePair) domain.createQueuePair(options);
    boolean begun = false;
    try {
      begin(pair, space);
      begun = true;
      return pair;
    } finally {
      if (!begun) {
        // The device has failed meanwhile, and no other object holds this queue pair.
        pair.close();
      }
    }
  }

  private static void begin(EmulatedQueuePair pair, PortSpace space) {
    QueuePairAttributes first =
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1);
    switch (space) {
      case TCP ->
          pair.modify(
              first.access(
                  EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)));
      case UDP -> {
        pair.modify(first.queueKey(DatagramPeer.QUEUE_KEY));
        pair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(0));
      }
    }
  }

  /**
   * Moves a connected queue pair to RTR, as {@code rdma_cm} does; {@code psn} is the peer's first
   * PSN.
   */
  public static void toReadyToReceive(
      EmulatedQueuePair pair, Gid peer, int number, Mtu mtu, int psn, int serves, int rnrTimer) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(peer))
            .pathMtu(mtu)
            .destinationQueuePair(number)
            .receivePsn(psn)
            .maxDestinationReadAtomic(serves)
            .minRnrTimer(rnrTimer));
  }

  /**
   * Moves a connected queue pair to RTS, as {@code rdma_cm} does; {@code psn} is its own first PSN.
   */
  public static void toReadyToSend(
      EmulatedQueuePair pair, int psn, int timeout, int retryCount, int rnrRetry, int depth) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(timeout)
            .retryCount(retryCount)
            .rnrRetry(rnrRetry)
            .sendPsn(psn)
            .maxReadAtomic(depth));
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, "create queue pair: " + message);
  }
}
