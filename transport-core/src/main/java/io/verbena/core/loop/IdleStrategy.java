// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;

/**
 * Decides what a loop does that finds no work: poll again at once, or sleep. Not thread-safe: the
 * loop's thread alone calls it.
 */
public final class IdleStrategy {
  /** The clock is read once in 16 calls, as reading it costs more than a poll. */
  private static final int CLOCK_MASK = 15;

  private final PollMode mode;
  private final long spinNanos;

  private boolean idle;
  private int spins;
  private long idleSince;

  /**
   * A strategy for one loop.
   *
   * @param mode how the loop waits
   * @param options whose {@link RdmaOptions#spinTime} limits the spinning of {@link
   *     PollMode#ADAPTIVE}
   */
  public IdleStrategy(PollMode mode, RdmaOptions options) {
    this.mode = mode;
    spinNanos = options.spinTime().toNanos();
  }

  /** The loop found work: the next time that it finds none, an idle period begins. */
  public void worked() {
    idle = false;
  }

  /**
   * Returns whether the loop is in an idle period: it has not found work since it last had none.
   */
  public boolean isIdle() {
    return idle;
  }

  /**
   * Spends a moment of an idle period, or ends its spinning. Yields while it spins: the loop at the
   * other end may need this very CPU to answer.
   *
   * @return true if the loop is to poll again, false if it is to sleep
   */
  @SuppressWarnings("ThreadPriorityCheck")
  public boolean spins() {
    if (mode == PollMode.EVENT) {
      idle = true;
      return false;
    }
    if (!idle) {
      idle = true;
      spins = 0;
      idleSince = mode == PollMode.ADAPTIVE ? System.nanoTime() : 0;
    }
    if (mode == PollMode.BUSY || (++spins & CLOCK_MASK) != 0) {
      Thread.onSpinWait();
      return true;
    }
    if (System.nanoTime() - idleSince < spinNanos) {
      Thread.yield();
      return true;
    }
    return false;
  }
}
