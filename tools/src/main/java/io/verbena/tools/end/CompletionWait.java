// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits between two polls of a completion queue: spins, then yields the CPU, or, at an end with
 * events, sleeps; gives up when nothing completed for a time. One thread.
 */
public final class CompletionWait {
  private static final int BUSY = 1 << 8;
  private static final int LOOK_EVERY = 1 << 6;

  /** After this time the caller looks at other things than completions. */
  private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Duration limit;
  private final @Nullable End sleeper;
  private int looks;
  private long since;
  private boolean armed;

  /** Gives up after {@code limit} without a completion at {@code end}. */
  public CompletionWait(End end, Duration limit) {
    this.limit = limit;
    sleeper = end.hasEvents() ? end : null;
  }

  /** The time after which it gives up. */
  public Duration limit() {
    return limit;
  }

  /** Starts the time anew, because something completed. */
  public void restart() {
    looks = 0;
  }

  /**
   * Waits for a moment, because nothing completed.
   *
   * @return whether the caller should look at other things, which it should now and then
   * @throws ToolFailure when nothing completed for too long
   */
  @SuppressWarnings("ThreadPriorityCheck") // Both ends may share the only CPU.
  public boolean pause() throws ToolFailure, InterruptedException {
    int look = ++looks;
    if (sleeper != null) {
      return sleep(sleeper, look);
    }
    if (look < BUSY) {
      Thread.onSpinWait();
      return false;
    }
    if (look == BUSY) {
      since = System.nanoTime();
    }
    Thread.yield();
    if (look % LOOK_EVERY != 0) {
      return false;
    }
    checkLimit();
    return true;
  }

  private boolean sleep(End end, int look) throws ToolFailure, InterruptedException {
    if (look == 1) {
      since = System.nanoTime();
    }
    if (!armed) {
      // The caller has to look once more before it may sleep.
      end.arm();
      armed = true;
      return false;
    }
    armed = !end.sleep(NAP_NANOS);
    checkLimit();
    return true;
  }

  private void checkLimit() throws ToolFailure {
    if (System.nanoTime() - since > limit.toNanos()) {
      throw new ToolFailure(
          "nothing completed for " + limit.toSeconds() + " s",
          "check that the other end still runs with the same options;"
              + " --timeout SECONDS waits longer");
    }
  }
}
