// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.concurrent.TimeUnit;

/**
 * A loop that does no duty cycles, as code that it calls keeps its thread.
 *
 * @param loop the name of its thread
 * @param nanos for how long
 */
public record HeldUp(String loop, long nanos) {
  /** Returns a text for errors: the loop, and the time that it has been held up. */
  public String text() {
    return "completion loop "
        + loop
        + " has been held up for "
        + TimeUnit.NANOSECONDS.toMillis(nanos)
        + " ms by code that it calls (RdmaOptions.stallWarning)";
  }
}
