// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.DeviceCounters.Counter;

/**
 * Emits the events of queue pairs. Not done by {@link QueuePairEvent} itself: to define one of its
 * subclasses while it records, Flight Recorder asks for the methods of their superclass, and the
 * JVM would have to define that subclass again to verify them.
 */
final class QueuePairEvents {
  private QueuePairEvents() {}

  /** Emits the event of this counter, if it has one that is being recorded. */
  static void emit(Counter counter, EmulatedDevice device, int queuePair, int peer) {
    switch (counter) {
      case RETRANSMISSIONS -> emit(new RetransmissionEvent(), device, queuePair, peer);
      case RNR_RECEIVED -> emit(new ReceiverNotReadyEvent(), device, queuePair, peer);
      default -> {
        // Counted alone.
      }
    }
  }

  private static void emit(QueuePairEvent event, EmulatedDevice device, int queuePair, int peer) {
    if (event.shouldCommit()) {
      event.device = device.attributes().name();
      event.queuePair = queuePair;
      event.peerQueuePair = Math.max(0, peer);
      event.commit();
    }
  }
}
