// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.StackTrace;

/** An event of one connection, for Flight Recorder. */
@Category("Verbena")
@StackTrace(false)
abstract class FlightRecorderEvent extends Event {
  @Label("Adapter")
  @Description("The kind of transport: reactor or netty")
  String adapter = "";

  @Label("Peer")
  String peer = "";

  @Label("Queue Pair")
  @Description("The number of its queue pair")
  int queuePair;
}
