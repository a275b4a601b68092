// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.DeviceCounters.Counter;

/**
 * Emits the events of queue pairs. {@link QueuePairEvent} itself must not: to define one of its
 * subclasses during a recording, Flight Recorder reads the methods of {@link QueuePairEvent}, and
 * the JVM would have to define that subclass again to verify them.
 */
final class QueuePairEvents {
  /**
   * Used only to check whether this type of event is recorded; each emitted event is a new object.
   */
  private static final QueuePairEvent RETRANSMISSION = new RetransmissionEvent();

  private static final QueuePairEvent RECEIVER_NOT_READY = new ReceiverNotReadyEvent();

  private QueuePairEvents() {}

  /** Emits the event of this counter, if the counter has one and it is being recorded. */
  static void emit(Counter counter, EmulatedDevice device, int queuePair, int peer) {
    switch (counter) {
      case RETRANSMISSIONS -> {
        if (RETRANSMISSION.isEnabled()) {
          emit(new RetransmissionEvent(), device, queuePair, peer);
        }
      }
      case RNR_RECEIVED -> {
        if (RECEIVER_NOT_READY.isEnabled()) {
          emit(new ReceiverNotReadyEvent(), device, queuePair, peer);
        }
      }
      default -> {
        // Other counters have no event.
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
