// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Deregisters slabs that nobody has needed for some seconds, as after many connections have closed.
 * {@link #run} looks now and then at the free bytes, not at each buffer. If at each look more than
 * one slab's bytes were free, and no slab was registered meanwhile, the idle slabs go, but one.
 *
 * <p>Registering a slab again takes longer than keeping it. So the quiet time doubles when slabs
 * are needed again soon, and when free buffers are spread over slabs that all have a buffer in use;
 * two trims without need in between reset it. Not thread-safe.
 */
final class SlabTrimmer {
  static final long LEAST_QUIET = TimeUnit.SECONDS.toNanos(4);
  static final long MOST_QUIET = TimeUnit.MINUTES.toNanos(5);

  /** The time between looks while there is something to trim. */
  static final long LOOK = TimeUnit.SECONDS.toNanos(1);

  /** The time between looks otherwise. */
  static final long REST = TimeUnit.SECONDS.toNanos(4);

  private final Slabs slabs;
  private final LongSupplier clock;
  private long nextLook;
  private long quiet = LEAST_QUIET;

  /** Whether more than one slab's bytes were free at the last look. */
  private boolean isQuiet;

  private long quietSince;
  private long lastMade;
  private boolean trimmed;
  private long trimmedAt;

  /**
   * @param clock the time in nanoseconds
   */
  SlabTrimmer(Slabs slabs, LongSupplier clock) {
    this.slabs = slabs;
    this.clock = clock;
    nextLook = clock.getAsLong();
  }

  /** Looks, if it is time, and perhaps trims; returns the nanoseconds until the next look. */
  long run() {
    long now = clock.getAsLong();
    if (now - nextLook >= 0) {
      nextLook = now + look(now);
    }
    return nextLook - now;
  }

  private long look(long now) {
    long made = slabs.made();
    boolean grew = made != lastMade;
    lastMade = made;
    if (grew && trimmed) {
      trimmed = false;
      if (now - trimmedAt < MOST_QUIET) {
        lengthen();
      }
    }
    boolean wasQuiet = isQuiet;
    isQuiet = slabs.freeBytes() > slabs.slabLength();
    if (!isQuiet) {
      return REST;
    }
    if (!wasQuiet || grew) {
      quietSince = now;
    } else if (now - quietSince >= quiet) {
      quietSince = now;
      trim(now);
    }
    return LOOK;
  }

  private void trim(long now) {
    if (slabs.trim()) {
      if (trimmed) {
        quiet = LEAST_QUIET;
      }
      trimmed = true;
      trimmedAt = now;
    } else {
      lengthen();
    }
  }

  private void lengthen() {
    quiet = Math.min(2 * quiet, MOST_QUIET);
  }
}
