// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides whether a loop that finds no work polls again at once or sleeps. Not thread-safe: only
 * the loop's thread calls it.
 *
 * <p>In {@link PollMode#ADAPTIVE} it learns how long to spin, as KVM's halt polling does
 * (Documentation/virt/kvm/halt-polling.rst in Linux): longer if work arrived soon after the loop
 * fell asleep, shorter if it arrived late, never longer than {@link RdmaOptions#spinTime}. It stops
 * spinning if another thread needs the CPU, such as the peer's loop, or the compiler of a JVM that
 * warms up.
 */
public final class IdleStrategy {
  /** Reads the clock once in 16 calls, because reading it costs more than a poll. */
  private static final int CLOCK_MASK = 15;

  /** The spin time at first, and when spinning pays again after it was given up. */
  private static final long FIRST_SPIN = TimeUnit.MICROSECONDS.toNanos(20);

  /** Below this time spinning is given up. */
  private static final long LEAST_SPIN = TimeUnit.MICROSECONDS.toNanos(10);

  /**
   * A yield that takes longer has let another thread run; two loops that yield to one another take
   * less.
   */
  private static final long OTHERS_RAN = TimeUnit.MICROSECONDS.toNanos(20);

  /**
   * One idle period in 64 spins for the longest time: two ends that both sleep wake one another so
   * late that neither would ever learn that spinning pays.
   */
  private static final int PROBE_MASK = 63;

  private final PollMode mode;
  private final long longestSpin;
  private final LongSupplier clock;
  private final Runnable yieldCpu;

  private boolean idle;
  private int polls;
  private long idleSince;

  private long spin;
  private long spinNow;
  private int periods;

  /** Whether the length of this idle period is to change the spin time. */
  private boolean learns;

  /**
   * A strategy for one loop.
   *
   * @param mode how the loop waits
   * @param options whose {@link RdmaOptions#spinTime} limits the spinning of {@link
   *     PollMode#ADAPTIVE}
   */
  public IdleStrategy(PollMode mode, RdmaOptions options) {
    this(mode, options, System::nanoTime, Thread::yield);
  }

  /** Creates a strategy with another clock and another way to yield the CPU, for tests. */
  IdleStrategy(PollMode mode, RdmaOptions options, LongSupplier clock, Runnable yieldCpu) {
    this.mode = mode;
    this.clock = clock;
    this.yieldCpu = yieldCpu;
    longestSpin = options.spinTime().toNanos();
    spin = firstSpin();
  }

  private long firstSpin() {
    return Math.min(FIRST_SPIN, longestSpin);
  }

  /** Called when the loop has found work. The next {@link #spins} begins another idle period. */
  public void worked() {
    if (idle) {
      idle = false;
      if (learns) {
        learn(clock.getAsLong() - idleSince);
      }
    }
  }

  private void learn(long waited) {
    if (waited <= longestSpin) {
      spin = spin > longestSpin / 2 ? longestSpin : Math.max(firstSpin(), spin * 2);
    } else {
      spin = spin / 2 < LEAST_SPIN ? 0 : spin / 2;
    }
  }

  /**
   * Returns whether the loop is in an idle period: it has found no work since the last {@link
   * #spins}.
   */
  public boolean isIdle() {
    return idle;
  }

  /**
   * Called when the loop has found no work; may spin or yield for a moment.
   *
   * @return true if the loop is to poll again, false if it is to sleep
   */
  public boolean spins() {
    if (mode == PollMode.EVENT) {
      idle = true;
      return false;
    }
    if (!idle) {
      begin();
    }
    if (mode == PollMode.BUSY || (++polls & CLOCK_MASK) != 0) {
      Thread.onSpinWait();
      return true;
    }
    long before = clock.getAsLong();
    if (before - idleSince < spinNow) {
      yieldCpu.run();
      if (clock.getAsLong() - before <= OTHERS_RAN) {
        return true;
      }
    }
    learns = true;
    return false;
  }

  private void begin() {
    idle = true;
    if (mode == PollMode.ADAPTIVE) {
      polls = 0;
      idleSince = clock.getAsLong();
      boolean probe = (++periods & PROBE_MASK) == 0;
      spinNow = probe ? longestSpin : spin;
      learns = probe;
    }
  }
}
