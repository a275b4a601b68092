// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.guard;

import io.verbena.RdmaTimeoutException;
import io.verbena.core.loop.HeldUp;
import java.time.Duration;

/** The errors of operations that wait for a loop that a subscriber holds up. */
public final class HeldUpLoop {
  private HeldUpLoop() {}

  /** Returns the error of an operation that the loop did not get to within its timeout. */
  public static RdmaTimeoutException timeout(
      String operation, String peer, Duration within, HeldUp why) {
    return new RdmaTimeoutException(
        operation, peer, "not done within " + within + ": " + why.text());
  }
}
