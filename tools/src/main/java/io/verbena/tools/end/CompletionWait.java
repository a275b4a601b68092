// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits between two polls of a completion queue: spins, then yields the CPU, or sleeps if the end
 * has events. Fails if nothing completes within a limit. One thread.
 */
public final class CompletionWait {
  private static final int BUSY = 1 << 8;
  private static final int LOOK_EVERY = 1 << 6;

  /** The time after which the caller should check other things than completions. */
  private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Duration limit;
  private final @Nullable End sleeper;
  private int looks;
  private long since;
  private boolean armed;

  /** Creates a wait that fails after {@code limit} without a completion at {@code end}. */
  public CompletionWait(End end, Duration limit) {
    this.limit = limit;
    sleeper = end.hasEvents() ? end : null;
  }

  /** Returns the time without a completion after which it fails. */
  public Duration limit() {
    return limit;
  }

  /** Restarts the limit, after a completion. */
  public void restart() {
    looks = 0;
  }

  /**
   * Waits for a moment, after a poll that found no completion.
   *
   * @return whether the caller should now check other things than completions; true at intervals
   * @throws ToolFailure if nothing completed within the limit
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
      // The caller has to poll once more before it may sleep.
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
