// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Calls the engines of a fabric whose packets or bytes come from elsewhere: by a thread of its own,
 * and by whoever polls an empty completion queue, who is not kept waiting for that thread.
 *
 * <pre>{@code
 * SPINNING -- nothing to do ---> SELECTING  (something came, alarm, doorbell: SPINNING)
 *     |                               ^
 *     +-- somebody polls --> YIELDED -+  nobody has polled for a while, or somebody arms
 * }</pre>
 */
public final class Driver {
  private static final int SPINS = 100;

  /** How long the driver trusts at first that who has polled will poll again. */
  private static final long YIELD_NANOS = 300_000;

  /**
   * How long at the most, after it did: each look takes the CPU from somebody where all are polled
   * on. A message that comes when the polling has just ended waits up to twice as long: the first
   * look still finds that there was polling.
   */
  private static final long LONGEST_YIELD_NANOS = 2_000_000;

  /** The longest sleep in slices that the selector, which counts milliseconds, does not know. */
  private static final long SHORT_NANOS = 50_000;

  private static final long MILLI_NANOS = 1_000_000;

  private final TurnFabric fabric;
  private final Duties duties;
  private @Nullable Thread thread;
  private volatile State state = State.SPINNING;
  private volatile boolean polled;

  /** What its thread is doing; see above. */
  private enum State {
    SPINNING,
    SELECTING,
    YIELDED
  }

  /** What there is to do for a fabric. */
  public interface Duties {
    /** For those who have entered the fabric: does what is due; true if that was anything. */
    boolean work();

    /** For those who have entered: nanoseconds until an alarm is due. */
    long untilNextAlarm();

    /** Whether a sleep would leave something undone that was rung for. */
    boolean hasWork();

    /** Whether a device is open; without one nobody polls. */
    boolean isInUse();

    /**
     * Sleeps until something comes, or {@link #wakeup}; in whole milliseconds.
     *
     * @param nanos how long at the most
     */
    void await(long nanos);

    /** Ends that sleep, or the next one; for any thread. */
    void wakeup();

    /** Whether the thread is to end; asked between its turns, not by who has entered. */
    boolean isOver();
  }

  /** The driver of a fabric. */
  public Driver(TurnFabric fabric, Duties duties) {
    this.fabric = fabric;
    this.duties = duties;
  }

  /** Starts its thread, unless that runs; not by two at once. */
  public void start(String name) {
    if (thread == null) {
      Thread started = new Thread(this::drive, name);
      started.setDaemon(true);
      thread = started;
      started.start();
    }
  }

  /** Has the thread look, if it sleeps for want of work. */
  public void wake() {
    if (state == State.SELECTING) {
      rouse();
    }
  }

  /** Has it look, whatever it sleeps for. */
  public void rouse() {
    LockSupport.unpark(thread);
    duties.wakeup();
  }

  /** As {@link io.verbena.emulated.hca.Fabric#progress}. */
  public boolean progress() {
    if (!polled) {
      polled = true;
      // From now on alarms are set that a driver which sleeps already knows nothing of.
      wake();
    }
    if (!fabric.tryEnter()) {
      return true;
    }
    return turn();
  }

  /** As {@link io.verbena.emulated.hca.Fabric#pollingEnds}. */
  public void pollingEnds() {
    polled = false;
    if (state == State.YIELDED) {
      LockSupport.unpark(thread);
    }
  }

  private void drive() {
    int idle = 0;
    while (!duties.isOver()) {
      fabric.enter();
      if (turn()) {
        idle = 0;
      } else if (polled) {
        yieldToPollers();
      } else if (idle < SPINS) {
        idle++;
        Thread.onSpinWait();
      } else {
        sleep();
      }
    }
  }

  /** For those who have entered: does what is due, and leaves; true if that was anything. */
  private boolean turn() {
    try {
      return work();
    } finally {
      fabric.leave();
    }
  }

  /** For those who have entered: does what is due; true if that was anything. */
  public boolean work() {
    try {
      return duties.work();
    } catch (RuntimeException | Error e) {
      // A mistake of an engine stops its queue pair; the others go on.
      TurnFabric.report(e);
      return true;
    }
  }

  private void yieldToPollers() {
    state = State.YIELDED;
    long nanos = YIELD_NANOS;
    while (polled && duties.isInUse()) {
      polled = false;
      LockSupport.parkNanos(this, nanos);
      nanos = Math.min(2 * nanos, LONGEST_YIELD_NANOS);
    }
    state = State.SPINNING;
  }

  private void sleep() {
    state = State.SELECTING;
    long nanos = untilNextAlarm();
    if (!duties.hasWork() && !polled && duties.isInUse()) {
      if (nanos < MILLI_NANOS) {
        LockSupport.parkNanos(this, Math.min(nanos, SHORT_NANOS));
      } else {
        duties.await(nanos);
      }
    }
    state = State.SPINNING;
  }

  private long untilNextAlarm() {
    fabric.enter();
    try {
      return duties.untilNextAlarm();
    } finally {
      fabric.leave();
    }
  }
}
