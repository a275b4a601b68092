// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import io.verbena.emulated.hca.Fabric;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Calls the engines of a fabric whose packets or bytes come from elsewhere. Three kinds of threads
 * do so: the driver's own thread; a thread that polls an empty completion queue, which then need
 * not wait for the driver's thread; and a thread that waits for an event, which would otherwise be
 * woken by a thread that has to be woken first.
 *
 * <pre>{@code
 * SPINNING -- nothing to do ---> SELECTING  (something came, alarm, doorbell: SPINNING)
 *     |                               ^
 *     +-- a thread polls, --> YIELDED +  no thread has polled or waited here for a while
 *         or waits here
 * }</pre>
 *
 * <p>One thread of a program waits here at a time; others park until that thread, or one that
 * polls, wakes them.
 */
public final class Driver {
  private static final VarHandle SEAT;

  static {
    try {
      SEAT = MethodHandles.lookup().findVarHandle(Driver.class, "seat", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int SPINS = 100;

  /** The time within which the driver at first expects a thread that has polled to poll again. */
  private static final long YIELD_NANOS = 300_000;

  /**
   * The longest such time, once the thread did poll again: each look takes the CPU from another
   * thread if all CPUs poll. A message that arrives just after the polling has ended waits up to
   * twice as long: the first look still finds that there was polling.
   */
  private static final long LONGEST_YIELD_NANOS = 2_000_000;

  /**
   * Sleeps below a millisecond, which the selector cannot measure, are cut into slices of at most
   * this length.
   */
  private static final long SHORT_NANOS = 50_000;

  private static final long MILLI_NANOS = 1_000_000;

  /**
   * The longest rest of the driver's thread; other threads end it earlier. If they set an alarm and
   * poll no more, the thread that sleeps here may learn of the alarm only after this time.
   */
  private static final long LONGEST_REST_NANOS = 1_000_000_000;

  private final DrivenFabric fabric;
  private final Duties duties;
  private @Nullable Thread thread;
  private volatile State state = State.SPINNING;

  /** The thread that has polled since the driver last looked; null if none has. */
  private volatile @Nullable Thread poller;

  /**
   * True if the next poll is the last one of a thread before it sleeps; a hint, which other threads
   * may read late.
   */
  private boolean lastLook;

  /** The thread of a program that waits here; null if none does. */
  private volatile @Nullable Thread seat;

  /** The same thread while it sleeps; else null. */
  private volatile @Nullable Thread sleeper;

  /** True while the driver's thread sleeps because another thread waits here. */
  private volatile boolean resting;

  /** The states of the driver's thread; see above. */
  private enum State {
    SPINNING,
    SELECTING,
    YIELDED
  }

  /** The work that a fabric gives its driver. */
  public interface Duties {
    /**
     * Does the work that is due; returns whether there was any. The caller has entered the fabric.
     */
    boolean work();

    /** Returns the nanoseconds until an alarm is due. The caller has entered the fabric. */
    long untilNextAlarm();

    /** Returns whether doorbells have rung for work that a sleep would leave undone. */
    boolean hasWork();

    /** Returns whether a device is open; otherwise no thread polls. */
    boolean isInUse();

    /**
     * Sleeps until something arrives, or {@link #wakeup} is called; counts in whole milliseconds.
     *
     * @param nanos the longest time to sleep
     */
    void await(long nanos);

    /** Ends the sleep in {@link #await}, or the next one. Thread-safe. */
    void wakeup();

    /**
     * Makes sure that threads that drive find the input of which only the kernel knows. Called
     * while other threads drive, which may be rarely.
     */
    default void look() {}

    /**
     * Returns whether the driver's thread must end. Called between its turns, by a thread that has
     * not entered.
     */
    boolean isOver();
  }

  public Driver(DrivenFabric fabric, Duties duties) {
    this.fabric = fabric;
    this.duties = duties;
  }

  /** Starts the driver's thread unless it runs; never called by two threads at once. */
  public void start(String name) {
    if (thread == null) {
      Thread started = new Thread(this::drive, name);
      started.setDaemon(true);
      thread = started;
      started.start();
    }
  }

  /** Wakes the thread that sleeps because there was no work. */
  public void wake() {
    if (state == State.SELECTING) {
      rouse();
    }
    Thread waiting = sleeper;
    if (waiting != null) {
      rouse(waiting);
    }
  }

  /** Does what {@link Fabric#rouse} describes. */
  public void rouse(@Nullable Thread waiting) {
    LockSupport.unpark(waiting);
    if (waiting != null && waiting == sleeper) {
      duties.wakeup();
    }
  }

  /** Wakes the driver's thread, whatever it sleeps for. */
  public void rouse() {
    LockSupport.unpark(thread);
    duties.wakeup();
  }

  /** Does what {@link Fabric#progress} describes. */
  public boolean progress() {
    boolean isLast = false;
    if (poller == null) {
      isLast = lastLook;
      if (isLast) {
        lastLook = false;
      } else {
        poller = Thread.currentThread();
      }
      // From now on this thread may set alarms of which a driver that already sleeps does not know.
      wake();
      endRest();
    }
    if (!fabric.tryEnter()) {
      return true;
    }
    boolean any = turn();
    if (isLast && any) {
      // A driver that fell asleep since the first wake-up does not know of alarms set by this turn.
      wake();
    }
    return any;
  }

  /**
   * Does what {@link Fabric#pollingEnds} describes, for a thread that does not sleep in {@link
   * #await}.
   */
  public void pollingEnds() {
    lastLook = true;
    poller = null;
    if (state == State.YIELDED) {
      LockSupport.unpark(thread);
    }
  }

  private void endRest() {
    if (resting) {
      LockSupport.unpark(thread);
    }
  }

  /** Does what {@link Fabric#await} describes. */
  public boolean await(Fabric.Waiter waiter, long nanos) {
    Thread me = Thread.currentThread();
    Thread polls = poller;
    if ((polls != null && polls != me) || !SEAT.compareAndSet(this, null, me)) {
      // The thread that waits here may not know of the alarms that this thread has set.
      wake();
      return false;
    }
    try {
      if (state == State.SELECTING) {
        // The driver's thread leaves the sleeping to this thread; two threads cannot sleep in
        // duties.await().
        rouse();
        LockSupport.parkNanos(this, Math.min(nanos, SHORT_NANOS));
      }
      fabric.enter();
      if (!turn()) {
        sleep(waiter, nanos);
      }
    } finally {
      // Like a thread that polls, this thread is expected to return.
      poller = me;
      seat = null;
      endRest();
    }
    return true;
  }

  private void sleep(Fabric.Waiter waiter, long nanos) {
    sleeper = Thread.currentThread();
    try {
      long left = Math.min(nanos, untilNextAlarm());
      // The state is checked first: a wake-up may have ended the sleep of the driver's thread
      // instead.
      if (state != State.SELECTING && !duties.hasWork() && !waiter.isDue()) {
        sleep(left);
      }
    } finally {
      sleeper = null;
    }
  }

  private void drive() {
    int idle = 0;
    while (!duties.isOver()) {
      fabric.enter();
      if (turn()) {
        idle = 0;
      } else if (isSpared() && duties.isInUse()) {
        yieldToOthers();
      } else if (idle < SPINS) {
        idle++;
        Thread.onSpinWait();
      } else {
        sleep();
      }
    }
  }

  /**
   * Does the work that is due, and leaves; returns whether there was any. The caller has entered.
   */
  private boolean turn() {
    try {
      return work();
    } finally {
      fabric.leave();
    }
  }

  /** Does the work that is due; returns whether there was any. The caller has entered. */
  public boolean work() {
    try {
      return duties.work();
    } catch (RuntimeException | Error e) {
      // A bug of an engine stops its queue pair; the others continue.
      DrivenFabric.report(e);
      return true;
    }
  }

  /** Returns whether another thread does the work of the driver's thread. */
  private boolean isSpared() {
    return poller != null || seat != null;
  }

  private void yieldToOthers() {
    state = State.YIELDED;
    long nanos = YIELD_NANOS;
    boolean othersPolled = false;
    while (isSpared() && duties.isInUse()) {
      Thread polled = poller;
      if (polled == null) {
        rest(othersPolled);
        othersPolled = false;
        nanos = YIELD_NANOS;
        continue;
      }
      othersPolled |= polled != seat;
      poller = null;
      LockSupport.parkNanos(this, nanos);
      // A thread that polls rarely must not wait long for input that only a look at the sockets
      // finds.
      duties.look();
      nanos = Math.min(2 * nanos, LONGEST_YIELD_NANOS);
    }
    state = State.SPINNING;
  }

  /**
   * Sleeps until a thread polls, or the thread that waits here returns.
   *
   * @param othersPolled whether other threads have polled since that thread came, which may not
   *     know of the alarms that they have set
   */
  private void rest(boolean othersPolled) {
    resting = true;
    if (othersPolled) {
      wake();
    }
    if (poller == null && seat != null && duties.isInUse()) {
      LockSupport.parkNanos(this, LONGEST_REST_NANOS);
      if (poller == null && seat != null) {
        // A thread may have set an alarm meanwhile and then stopped polling.
        wake();
      }
    }
    resting = false;
  }

  private void sleep() {
    state = State.SELECTING;
    long nanos = untilNextAlarm();
    if (!duties.hasWork() && !isSpared()) {
      sleep(duties.isInUse() ? nanos : Math.min(nanos, SHORT_NANOS));
    }
    state = State.SPINNING;
  }

  private void sleep(long nanos) {
    if (nanos < MILLI_NANOS) {
      LockSupport.parkNanos(this, Math.min(nanos, SHORT_NANOS));
    } else {
      duties.await(nanos);
    }
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
