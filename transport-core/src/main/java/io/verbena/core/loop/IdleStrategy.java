// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides what a loop does that finds no work: poll again at once, or sleep. Not thread-safe: the
 * loop's thread alone calls it.
 *
 * <p>In {@link PollMode#ADAPTIVE} it learns how long to spin, as KVM's halt polling does
 * (Documentation/virt/kvm/halt-polling.rst in Linux): longer where work came soon after the loop
 * fell asleep, shorter where it came late, and never longer than {@link RdmaOptions#spinTime}. It
 * gives way to other threads that need the CPU: the peer's loop, or the compiler of a JVM that
 * warms up.
 */
public final class IdleStrategy {
  /** The clock is read once in 16 calls, as reading it costs more than a poll. */
  private static final int CLOCK_MASK = 15;

  /** The first spin time, also where spinning pays again after it did not. */
  private static final long FIRST_SPIN = TimeUnit.MICROSECONDS.toNanos(20);

  /** Below it spinning is given up, as it finds nothing. */
  private static final long LEAST_SPIN = TimeUnit.MICROSECONDS.toNanos(10);

  /** Another thread has run if a yield takes longer; two loops that yield to one another do not. */
  private static final long OTHERS_RAN = TimeUnit.MICROSECONDS.toNanos(20);

  /**
   * One idle period in 64 spins as long as it may: two ends that both sleep wake one another so
   * late that neither would ever see that spinning pays.
   */
  private static final int PROBE_MASK = 63;

  private final PollMode mode;
  private final long longestSpin;
  private final LongSupplier clock;
  private final Runnable giveWay;

  private boolean idle;
  private int polls;
  private long idleSince;

  private long spin;
  private long spinNow;
  private int periods;

  /** Whether this idle period will show if spinning pays. */
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

  /** Creates a strategy with another clock and another way to give the CPU to others. */
  IdleStrategy(PollMode mode, RdmaOptions options, LongSupplier clock, Runnable giveWay) {
    this.mode = mode;
    this.clock = clock;
    this.giveWay = giveWay;
    longestSpin = options.spinTime().toNanos();
    spin = firstSpin();
  }

  private long firstSpin() {
    return Math.min(FIRST_SPIN, longestSpin);
  }

  /** The loop found work: the next time that it finds none, an idle period begins. */
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
   * Returns whether the loop is in an idle period: it has not found work since it last had none.
   */
  public boolean isIdle() {
    return idle;
  }

  /**
   * Spends a moment of an idle period, or ends its spinning.
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
      giveWay.run();
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
