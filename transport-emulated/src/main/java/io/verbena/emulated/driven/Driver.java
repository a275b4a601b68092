// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import io.verbena.emulated.hca.Fabric;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Calls the engines of a fabric whose packets or bytes come from elsewhere: by a thread of its own,
 * by whoever polls an empty completion queue, who is not kept waiting for that thread, and by
 * whoever waits for an event, who would else be woken by a thread that has to be woken first.
 *
 * <pre>{@code
 * SPINNING -- nothing to do ---> SELECTING  (something came, alarm, doorbell: SPINNING)
 *     |                               ^
 *     +-- somebody polls, --> YIELDED +  nobody has polled or waited here for a while
 *         or waits here
 * }</pre>
 *
 * One thread of a program waits here at a time; others park until it, or who polls, tells them.
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

  /** Others end its rest; what they leave behind waits so long for who sleeps here. */
  private static final long LONGEST_REST_NANOS = 1_000_000_000;

  private final TurnFabric fabric;
  private final Duties duties;
  private @Nullable Thread thread;
  private volatile State state = State.SPINNING;

  /** Who has polled since the driver last looked; null if nobody has. */
  private volatile @Nullable Thread poller;

  /** Whether the next poll is that of who sleeps then: hints, which threads may miss. */
  private boolean lastLook;

  /** The thread of a program that waits here; null if there is none. */
  private volatile @Nullable Thread seat;

  /** The same while it sleeps. */
  private volatile @Nullable Thread sleeper;

  /** Whether the driver's thread sleeps for as long as that other one is here. */
  private volatile boolean resting;

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

    /** While others drive, perhaps seldom: sees to it that they find what only the kernel tells. */
    default void look() {}

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

  /** Has whoever sleeps for want of work look. */
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

  /** Has it look, whatever it sleeps for. */
  public void rouse() {
    LockSupport.unpark(thread);
    duties.wakeup();
  }

  /** As {@link io.verbena.emulated.hca.Fabric#progress}. */
  public boolean progress() {
    if (poller == null) {
      if (lastLook) {
        lastLook = false;
      } else {
        poller = Thread.currentThread();
      }
      // From now on alarms are set that a driver which sleeps already knows nothing of.
      wake();
      endRest();
    }
    if (!fabric.tryEnter()) {
      return true;
    }
    return turn();
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
      // Who sits there may know nothing of the alarms that this one has set.
      wake();
      return false;
    }
    try {
      if (state == State.SELECTING) {
        // It leaves the sleeping to this one; two cannot.
        rouse();
        LockSupport.parkNanos(this, Math.min(nanos, SHORT_NANOS));
      }
      fabric.enter();
      if (!turn()) {
        sleep(waiter, nanos);
      }
    } finally {
      // As one that polls, it is trusted to come again.
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
      if (!duties.hasWork() && !waiter.isDue() && state != State.SELECTING) {
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

  /** Whether somebody else does its work. */
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
      // Who polls seldom must not be long without what only a look at the sockets tells.
      duties.look();
      nanos = Math.min(2 * nanos, LONGEST_YIELD_NANOS);
    }
    state = State.SPINNING;
  }

  /**
   * Sleeps until who waits here, and has for a while, is told of something or goes.
   *
   * @param othersPolled since it came; it may know nothing of the alarms that they have set
   */
  private void rest(boolean othersPolled) {
    resting = true;
    if (othersPolled) {
      wake();
    }
    if (poller == null && seat != null && duties.isInUse()) {
      LockSupport.parkNanos(this, LONGEST_REST_NANOS);
      if (poller == null && seat != null) {
        // Somebody may have set an alarm meanwhile and polled no more.
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
