package io.verbena.tools.end;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How a thread polls for what has to come: it spins, then yields its CPU between looks, or, at an
 * end with events, sleeps; and gives up when nothing came for a time. One thread.
 */
public final class Patience {
  private static final int BUSY = 1 << 8;
  private static final int LOOK_EVERY = 1 << 6;

  /** What comes by other ways than a completion is seen after this time, too. */
  private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Duration limit;
  private final @Nullable End sleeper;
  private int looks;
  private long since;
  private boolean armed;

  /** Gives up after {@code limit} without a completion at {@code end}. */
  public Patience(End end, Duration limit) {
    this.limit = limit;
    sleeper = end.hasEvents() ? end : null;
  }

  /** How long nothing may come. */
  public Duration limit() {
    return limit;
  }

  /** Something came: time begins anew. */
  public void found() {
    looks = 0;
  }

  /**
   * Nothing came.
   *
   * @return whether it is time to look at other things too, which is now and then
   * @throws ToolFailure when nothing came for too long
   */
  @SuppressWarnings("ThreadPriorityCheck") // Both ends may share the only CPU.
  public boolean empty() throws ToolFailure, InterruptedException {
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
          "see whether the other end still runs, and was started with the same options;"
              + " --timeout SECONDS waits longer");
    }
  }
}
