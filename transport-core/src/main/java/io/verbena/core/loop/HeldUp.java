// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.concurrent.TimeUnit;

/**
 * A loop that does no duty cycles, because code that it calls blocks its thread.
 *
 * @param loop the name of the loop's thread
 * @param nanos the time without a duty cycle so far, in nanoseconds
 */
public record HeldUp(String loop, long nanos) {
  /** Returns a text for errors, with the loop's name and the time. */
  public String text() {
    return "completion loop "
        + loop
        + " has been held up for "
        + TimeUnit.NANOSECONDS.toMillis(nanos)
        + " ms by code that it calls (RdmaOptions.stallWarning)";
  }
}
