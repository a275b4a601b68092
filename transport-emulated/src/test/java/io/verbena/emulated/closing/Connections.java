// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import java.util.EnumSet;
import java.util.Set;

/** Connects queue pairs of one device by hand. */
final class Connections {
  static final Set<Access> REMOTE =
      EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

  static final int QUEUE_KEY = 0x77;

  private Connections() {}

  static void connect(EmulatedDevice device, QueuePair one, QueuePair other) {
    connectOneWay(device, one, other);
    connectOneWay(device, other, one);
  }

  /** Makes a queue pair ready for datagrams. */
  static void prepareForDatagrams(QueuePair pair) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .queueKey(QUEUE_KEY));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
  }

  private static void connectOneWay(EmulatedDevice device, QueuePair pair, QueuePair to) {
    pair.modify(
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).access(REMOTE));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(device.gid()))
            .pathMtu(device.port().activeMtu())
            .destinationQueuePair(to.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(4)
            .minRnrTimer(1));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            // For ever: what is not answered any more is flushed in the end.
            .timeout(0)
            .retryCount(7)
            .rnrRetry(7)
            .sendPsn(1)
            .maxReadAtomic(4));
  }
}
