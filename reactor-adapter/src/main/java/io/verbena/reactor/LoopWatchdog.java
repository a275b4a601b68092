// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.HeldUp;
import java.lang.invoke.VarHandle;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Detects completion loops that neither sleep nor finish a duty cycle within a limit. Reports them,
 * and fails the operations that wait for such a loop once their deadlines have passed. Checks the
 * loops on a thread of its own, which parks while all of them sleep: the first loop to wake unparks
 * it. Time in which the watchdog itself did not run is not counted, as the JVM may have been
 * paused, and the loops with it.
 */
final class LoopWatchdog {
  /** Receives the watchdog's reports, on the watchdog's thread. */
  interface Report {

    /**
     * Called when a loop is held up, and again each minute while it stays so; at most once a minute
     * for each loop.
     *
     * @param loop names the loop, and tells for how long it has been held up
     * @param again whether the same stall was reported before
     * @param message describes the stall and its remedy, with the thread's stack
     */
    void heldUp(HeldUp loop, boolean again, String message);

    /**
     * Called when a loop that was reported continues or has ended.
     *
     * @param loop names the loop, and tells for how long it was held up in all
     * @param message says the same
     */
    void goesOn(HeldUp loop, String message);

    /** Runs an action that signals a passed deadline to a subscriber, whose code may block. */
    void signalLate(Runnable late);
  }

  private static final long BETWEEN_REPORTS = TimeUnit.MINUTES.toNanos(1);
  private static final long SHORTEST_PERIOD = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_REST = TimeUnit.MINUTES.toNanos(1);

  private final long limit;
  private final long betweenReports;
  private final LongSupplier clock;
  private final Supplier<List<CompletionLoop>> loops;
  private final Report report;
  private final IdentityHashMap<CompletionLoop, Progress> seen = new IdentityHashMap<>();
  private final Set<CompletionLoop> heldUp = ConcurrentHashMap.newKeySet();
  private final Thread thread;

  /** Whether a loop that wakes must unpark the watchdog. */
  private volatile boolean resting;

  private volatile boolean closed;

  /**
   * Starts the thread of the watchdog.
   *
   * @param name of the thread
   * @param limit how long a duty cycle may take, in nanoseconds, above 0
   * @param loops returns the current loops; called on the watchdog's thread
   * @param report receives the reports
   */
  LoopWatchdog(String name, long limit, Supplier<List<CompletionLoop>> loops, Report report) {
    this(name, limit, BETWEEN_REPORTS, System::nanoTime, loops, report);
  }

  LoopWatchdog(
      String name,
      long limit,
      long betweenReports,
      LongSupplier clock,
      Supplier<List<CompletionLoop>> loops,
      Report report) {
    this.limit = limit;
    this.betweenReports = betweenReports;
    this.clock = clock;
    this.loops = loops;
    this.report = report;
    thread = new Thread(null, this::work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(LoopWatchdog.class.getClassLoader());
    thread.start();
  }

  /** Returns whether a loop is known to be held up. May be called by any thread. */
  boolean isHeldUp(CompletionLoop loop) {
    return heldUp.contains(loop);
  }

  /** Unparks the watchdog if it rests: a loop woke or was added. May be called by any thread. */
  void wakeUp() {
    if (resting) {
      resting = false;
      LockSupport.unpark(thread);
    }
  }

  boolean isResting() {
    return resting;
  }

  private void work() {
    long due = clock.getAsLong();
    while (!closed) {
      long now = clock.getAsLong();
      excludeDelay(now - due);
      long period = check(now);
      if (haveSlept()) {
        due = rest();
      } else {
        LockSupport.parkNanos(this, period);
        due = now + period;
      }
    }
  }

  /** Excludes the watchdog's own delay, in nanoseconds, from all measured times. */
  private void excludeDelay(long late) {
    if (late > 0) {
      seen.values().forEach(each -> each.since += late);
    }
  }

  /**
   * Returns whether, at the last check, all loops slept and had done no duty cycle since the one
   * before.
   */
  private boolean haveSlept() {
    for (Progress each : seen.values()) {
      if (!each.hasSlept) {
        return false;
      }
    }
    return true;
  }

  /** Waits until a loop wakes; returns the time from which times are measured again. */
  private long rest() {
    resting = true;
    // A loop that woke before it could see the flag is awake now, or has done a duty cycle.
    if (!closed && seen.values().stream().allMatch(Progress::sleepsOn)) {
      LockSupport.parkNanos(this, LONGEST_REST);
    }
    resting = false;
    long now = clock.getAsLong();
    seen.values().forEach(each -> each.since = now);
    return now;
  }

  /**
   * Checks all loops; returns the time to the next check in nanoseconds, unless all of them sleep.
   */
  private long check(long now) {
    long period = limit / 2;
    List<CompletionLoop> current = loops.get();
    seen.keySet().retainAll(current);
    heldUp.retainAll(current);
    for (CompletionLoop loop : current) {
      Thread watched = loop.thread();
      if (watched != null && !closed) {
        seen.computeIfAbsent(loop, l -> watch(l, watched, now)).check(now);
        period = Math.min(period, loop.tickNanos());
      }
    }
    return Math.max(SHORTEST_PERIOD, period);
  }

  private Progress watch(CompletionLoop loop, Thread watched, long now) {
    loop.onWake(this::wakeUp);
    return new Progress(loop, watched, now);
  }

  /** Stops the watchdog, and waits for its thread to end. */
  void close() throws InterruptedException {
    closed = true;
    LockSupport.unpark(thread);
    thread.join();
  }

  /** The state of a loop at the last check. */
  private final class Progress {
    private final CompletionLoop loop;
    private final Thread watched;
    private int cycles;
    private long since;
    private boolean hasSlept;
    private boolean isReported;
    private @Nullable Long lastReport;

    Progress(CompletionLoop loop, Thread watched, long now) {
      this.loop = loop;
      this.watched = watched;
      since = now;
    }

    /**
     * Returns whether the loop sleeps and has done no duty cycle since the last check, or its
     * thread has ended.
     */
    boolean sleepsOn() {
      return !watched.isAlive() || (loop.isSleeping() && loop.cycles() == cycles);
    }

    void check(long now) {
      int current = loop.cycles();
      hasSlept = sleepsOn();
      if (current != cycles || loop.isSleeping() || !watched.isAlive()) {
        goesOn(now);
        cycles = current;
        since = now;
        return;
      }
      loop.waiters().noteTasks(now);
      if (now - since >= limit) {
        heldUp(now, new HeldUp(watched.getName(), now - since));
      }
    }

    private void heldUp(long now, HeldUp state) {
      heldUp.add(loop);
      if (isDue(now)) {
        boolean again = isReported;
        isReported = true;
        lastReport = now;
        report.heldUp(state, again, message(watched, state));
      }
      loop.waiters().noteTakenUp(since);
      // Reads the cycles after the reads in noteTakenUp().
      VarHandle.loadLoadFence();
      if (loop.cycles() != cycles || loop.isSleeping()) {
        // The loop went on meanwhile: the noted operations may not have waited that long.
        loop.waiters().forgetSeen();
        return;
      }
      loop.waiters().expire(now, state, report::signalLate);
    }

    private void goesOn(long now) {
      loop.waiters().forgetSeen();
      heldUp.remove(loop);
      if (isReported) {
        isReported = false;
        HeldUp all = new HeldUp(watched.getName(), now - since);
        report.goesOn(
            all,
            "completion loop "
                + all.loop()
                + (watched.isAlive() ? " goes on" : " has ended")
                + "; it was held up for "
                + TimeUnit.NANOSECONDS.toMillis(all.nanos())
                + " ms in all");
      }
    }

    private boolean isDue(long now) {
      Long last = lastReport;
      return last == null || now - last >= betweenReports;
    }
  }

  private static String message(Thread watched, HeldUp state) {
    StringBuilder text =
        new StringBuilder(state.text())
            .append(", and all its connections with it; move blocking code to another")
            .append(" thread, for example by publishOn(Schedulers.boundedElastic()):");
    for (StackTraceElement element : watched.getStackTrace()) {
      text.append("\n\tat ").append(element);
    }
    return text.toString();
  }
}
