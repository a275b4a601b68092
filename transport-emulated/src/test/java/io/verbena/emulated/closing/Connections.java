// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.emulated.iwarp.IwarpQueuePair;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import java.util.EnumSet;
import java.util.Set;

/** Connects queue pairs of one device without a connection manager. */
final class Connections {
  static final Set<Access> REMOTE =
      EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

  static final int QUEUE_KEY = 0x77;

  private static final int READS = 4;

  private Connections() {}

  static void connect(EmulatedDevice device, QueuePair one, QueuePair other) {
    if (device.fabric() instanceof IwarpFabric fabric) {
      initialize(one);
      initialize(other);
      Streams.connect(fabric, (IwarpQueuePair) one, (IwarpQueuePair) other, READS);
      return;
    }
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

  private static void initialize(QueuePair pair) {
    pair.modify(
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).access(REMOTE));
  }

  private static void connectOneWay(EmulatedDevice device, QueuePair pair, QueuePair to) {
    initialize(pair);
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(device.gid()))
            .pathMtu(device.port().activeMtu())
            .destinationQueuePair(to.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(READS)
            .minRnrTimer(1));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            // No timeout: a request without an answer is flushed in the end.
            .timeout(0)
            .retryCount(7)
            .rnrRetry(7)
            .sendPsn(1)
            .maxReadAtomic(READS));
  }
}
