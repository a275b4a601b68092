// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** A completion loop is held up, and all its connections with it. */
@Name("io.verbena.LoopStall")
@Label("Loop Stall")
@Category("Verbena")
@StackTrace(false)
public final class LoopStallEvent extends Event {
  @Label("Loop")
  @Description("The name of the loop's thread")
  String loop = "";

  @Label("Held Up")
  @Description("The time without a duty cycle when the stall was detected")
  @Timespan(Timespan.NANOSECONDS)
  long heldUp;

  /**
   * Emits the event, if it is being recorded.
   *
   * @param loop the name of the loop's thread
   * @param heldUpNanos the time without a duty cycle so far, in nanoseconds
   */
  public static void emit(String loop, long heldUpNanos) {
    LoopStallEvent event = new LoopStallEvent();
    if (event.shouldCommit()) {
      event.loop = loop;
      event.heldUp = heldUpNanos;
      event.commit();
    }
  }
}
