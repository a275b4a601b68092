// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The latest time for an expected event. */
final class Deadline {
  private static final int SPINS = 2000;

  private final long end;
  private int spins;

  private Deadline(long end) {
    this.end = end;
  }

  static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos());
  }

  boolean isOver() {
    return remainingNanos() == 0;
  }

  /** Pauses between two checks: spins at first, then parks for a microsecond at a time. */
  void pause() {
    if (spins < SPINS) {
      spins++;
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(1000);
    }
  }

  long remainingNanos() {
    return Math.max(0, end - System.nanoTime());
  }
}
