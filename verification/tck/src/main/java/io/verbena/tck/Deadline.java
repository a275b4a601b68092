// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The latest time for an expected event. */
final class Deadline {
  private static final int SPINS = 500;
  private static final long SHORTEST_PARK_NANOS = 1000;
  private static final long LONGEST_PARK_NANOS = 1_000_000;

  private final long end;
  private int spins;
  private long park = SHORTEST_PARK_NANOS;

  private Deadline(long end) {
    this.end = end;
  }

  static Deadline in(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos());
  }

  boolean isOver() {
    return remainingNanos() == 0;
  }

  /**
   * Pauses between two checks: spins at first, then parks, twice as long each time, for at most a
   * millisecond. So concurrent tests leave the CPU to the device.
   */
  void pause() {
    if (spins < SPINS) {
      spins++;
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(park);
      park = Math.min(2 * park, LONGEST_PARK_NANOS);
    }
  }

  /** Makes the next pauses short again, because a part of the expected events has arrived. */
  void progressed() {
    spins = 0;
    park = SHORTEST_PARK_NANOS;
  }

  long remainingNanos() {
    return Math.max(0, end - System.nanoTime());
  }
}
