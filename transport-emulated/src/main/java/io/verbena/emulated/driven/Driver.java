// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import io.verbena.emulated.hca.Fabric;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Calls the engines of a fabric whose packets or bytes come from elsewhere. Three kinds of threads
 * do so: its own; one that polls an empty completion queue, which then need not wait for the
 * driver's thread; and one that waits for an event, which else would be woken by a thread that has
 * to be woken first.
 *
 * <pre>{@code
 * SPINNING -- nothing to do ---> SELECTING  (something came, alarm, doorbell: SPINNING)
 *     |                               ^
 *     +-- somebody polls, --> YIELDED +  nobody has polled or waited here for a while
 *         or waits here
 * }</pre>
 *
 * One thread of a program waits here at a time; others park until it, or a thread that polls, wakes
 * them.
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
   * thread if all CPUs poll. A message that comes when the polling has just ended waits up to twice
   * as long: the first look still finds that there was polling.
   */
  private static final long LONGEST_YIELD_NANOS = 2_000_000;

  /**
   * Sleeps below a millisecond, which the selector cannot measure, are cut into slices of at most
   * this length.
   */
  private static final long SHORT_NANOS = 50_000;

  private static final long MILLI_NANOS = 1_000_000;

  /**
   * The longest rest of the driver's thread, which others end earlier; an alarm that they set and
   * leave may wait as long until the thread that sleeps here learns of it.
   */
  private static final long LONGEST_REST_NANOS = 1_000_000_000;

  private final TurnFabric fabric;
  private final Duties duties;
  private @Nullable Thread thread;
  private volatile State state = State.SPINNING;

  /** The thread that has polled since the driver last looked; null if none has. */
  private volatile @Nullable Thread poller;

  /**
   * True if the next poll comes from the thread that then sleeps; a hint, which other threads may
   * read late.
   */
  private boolean lastLook;

  /** The program's thread that waits here; null if none does. */
  private volatile @Nullable Thread seat;

  /** The same thread while it sleeps; else null. */
  private volatile @Nullable Thread sleeper;

  /** True while the driver's thread sleeps because that other thread is here. */
  private volatile boolean resting;

  /** The states of the driver's thread; see above. */
  private enum State {
    SPINNING,
    SELECTING,
    YIELDED
  }

  /** The work that a fabric gives its driver. */
  public interface Duties {
    /** Does what is due; true if anything was. For those who have entered the fabric. */
    boolean work();

    /** Returns the nanoseconds until an alarm is due; for those who have entered. */
    long untilNextAlarm();

    /** Returns whether a sleep would leave work undone that was rung for. */
    boolean hasWork();

    /** Returns whether a device is open; without one no thread polls. */
    boolean isInUse();

    /**
     * Sleeps until something comes, or {@link #wakeup} is called; in whole milliseconds.
     *
     * @param nanos the longest time to sleep
     */
    void await(long nanos);

    /** Ends that sleep, or the next one; for any thread. */
    void wakeup();

    /**
     * Called while other threads drive, perhaps rarely: makes sure that they find what only the
     * kernel knows.
     */
    default void look() {}

    /**
     * Returns whether the thread is to end; asked between its turns, by a thread that has not
     * entered.
     */
    boolean isOver();
  }

  public Driver(TurnFabric fabric, Duties duties) {
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

  /** As {@link Fabric#rouse}. */
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

  /** As {@link io.verbena.emulated.hca.Fabric#progress}. */
  public boolean progress() {
    boolean isLast = false;
    if (poller == null) {
      isLast = lastLook;
      if (isLast) {
        lastLook = false;
      } else {
        poller = Thread.currentThread();
      }
      // From now on alarms are set of which a driver that sleeps already does not know.
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

  /** As {@link io.verbena.emulated.hca.Fabric#pollingEnds}. */
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

  /** As {@link Fabric#await}. */
  public boolean await(Fabric.Waiter waiter, long nanos) {
    Thread me = Thread.currentThread();
    Thread polls = poller;
    if ((polls != null && polls != me) || !SEAT.compareAndSet(this, null, me)) {
      // The thread that sits there may not know of the alarms that this one has set.
      wake();
      return false;
    }
    try {
      if (state == State.SELECTING) {
        // The driver's thread leaves the sleeping to this one; two cannot.
        rouse();
        LockSupport.parkNanos(this, Math.min(nanos, SHORT_NANOS));
      }
      fabric.enter();
      if (!turn()) {
        sleep(waiter, nanos);
      }
    } finally {
      // Like a thread that polls, it is expected to come again.
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
      // The state first: a wake-up may have ended the sleep of the driver's thread instead.
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

  /** Does what is due, and leaves; true if anything was. For those who have entered. */
  private boolean turn() {
    try {
      return work();
    } finally {
      fabric.leave();
    }
  }

  /** Does what is due; true if anything was. For those who have entered. */
  public boolean work() {
    try {
      return duties.work();
    } catch (RuntimeException | Error e) {
      // A mistake of an engine stops its queue pair; the others go on.
      TurnFabric.report(e);
      return true;
    }
  }

  /** Returns whether another thread does the work of the driver's. */
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
      // A thread that polls rarely must not wait long for what only a look at the sockets finds.
      duties.look();
      nanos = Math.min(2 * nanos, LONGEST_YIELD_NANOS);
    }
    state = State.SPINNING;
  }

  /**
   * Sleeps until a thread polls, or the one that has waited here for a while returns.
   *
   * @param othersPolled whether other threads polled since that one came; it may not know of the
   *     alarms that they have set
   */
  private void rest(boolean othersPolled) {
    resting = true;
    if (othersPolled) {
      wake();
    }
    if (poller == null && seat != null && duties.isInUse()) {
      LockSupport.parkNanos(this, LONGEST_REST_NANOS);
      if (poller == null && seat != null) {
        // A thread may have set an alarm meanwhile and polled no more.
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
