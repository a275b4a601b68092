// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import java.util.EnumSet;

/** Connects queue pairs of one device without a connection manager. */
final class Loopback {
  private Loopback() {}

  static void connect(EmulatedDevice device, QueuePair pair, QueuePair to) {
    connect(device, pair, to, 1);
  }

  /**
   * Connects one end.
   *
   * @param maxReadAtomic READs and atomics that the end may have outstanding
   */
  static void connect(EmulatedDevice device, QueuePair pair, QueuePair to, int maxReadAtomic) {
    toReadyToReceive(device, pair, to);
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            // No timeout, so that a loaded machine does not exhaust the retries in races.
            .timeout(0)
            .retryCount(7)
            .rnrRetry(7)
            .sendPsn(1)
            .maxReadAtomic(maxReadAtomic));
  }

  static void toReadyToReceive(EmulatedDevice device, QueuePair pair, QueuePair to) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(device.gid()))
            .pathMtu(Mtu.MTU_4096)
            .destinationQueuePair(to.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(0));
  }
}
