// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.StackTrace;

/**
 * A Flight Recorder event of one queue pair; {@link QueuePairEvents} emits it. This class must not
 * name its subclasses: the verifier would load them while this class is linked, and a Flight
 * Recorder that records from the start of the JVM links this class to instrument loaded classes.
 */
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
}
