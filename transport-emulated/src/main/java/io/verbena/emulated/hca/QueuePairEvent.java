// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.DeviceCounters.Counter;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.StackTrace;

/** An event of one queue pair for Flight Recorder; while nobody records, it costs a check. */
@Category("Verbena")
@StackTrace(false)
abstract class QueuePairEvent extends Event {
  @Label("Device")
  String device = "";

  @Label("Queue Pair")
  @Description("The number of the queue pair")
  int queuePair;

  @Label("Peer Queue Pair")
  @Description("The number of the peer's queue pair, or 0")
  int peerQueuePair;

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
