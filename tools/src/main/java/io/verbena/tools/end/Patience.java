package io.verbena.tools.end;

import java.time.Duration;

/**
 * How a thread polls for what has to come: it spins, then yields its CPU between looks, and gives
 * up when nothing came for a time. One thread.
 */
public final class Patience {
  private static final int BUSY = 1 << 8;
  private static final int LOOK_EVERY = 1 << 6;

  private final Duration limit;
  private int looks;
  private long since;

  /** Gives up after {@code limit} without a completion. */
  public Patience(Duration limit) {
    this.limit = limit;
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
  public boolean empty() throws ToolFailure {
    int look = ++looks;
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
    if (System.nanoTime() - since > limit.toNanos()) {
      throw new ToolFailure(
          "nothing completed for " + limit.toSeconds() + " s",
          "see whether the other end still runs, and was started with the same options;"
              + " --timeout SECONDS waits longer");
    }
    return true;
  }
}
