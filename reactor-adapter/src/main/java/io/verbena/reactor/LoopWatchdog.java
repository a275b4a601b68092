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
 * Watches loops that have not done a duty cycle for some time, and do not sleep: reports them, and
 * ends the wait of those whose deadlines pass meanwhile. It looks at the loops from a thread of its
 * own, and rests while all of them sleep: the first that goes on wakes it. Time in which it did not
 * run itself does not count: the JVM may have been stopped, and the loops with it.
 */
final class LoopWatchdog {
  /** Gets the watchdog's reports, on its thread. */
  interface Report {

    /**
     * Called when a loop is held up, and each minute while it is; at most once a minute for each.
     *
     * @param loop is held up
     * @param again whether it is still held up by what was reported before
     * @param message says so, with the thread's stack and what to do
     */
    void heldUp(HeldUp loop, boolean again, String message);

    /**
     * Called when a loop that was reported goes on.
     *
     * @param loop for how long it was held up in all
     * @param message says so
     */
    void goesOn(HeldUp loop, String message);

    /**
     * Runs an action that signals a passed deadline to a subscriber: foreign code, which may block.
     */
    void tell(Runnable late);
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

  /** Whether a loop that goes on is to wake the watchdog. */
  private volatile boolean resting;

  private volatile boolean closed;

  /**
   * Starts to watch.
   *
   * @param name of the thread
   * @param limit how long a duty cycle may take, in nanoseconds, above 0
   * @param loops the loops that there are now
   * @param report takes what is found
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

  /** A loop goes on, or there is another one. May be called by any thread. */
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
      forgive(now - due);
      long period = check(now);
      if (haveSlept()) {
        due = rest();
      } else {
        LockSupport.parkNanos(this, period);
        due = now + period;
      }
    }
  }

  /** Does not count the time by which a look comes late. */
  private void forgive(long late) {
    if (late > 0) {
      seen.values().forEach(each -> each.since += late);
    }
  }

  /** Returns whether all loops have slept since the last look. */
  private boolean haveSlept() {
    for (Progress each : seen.values()) {
      if (!each.hasSlept) {
        return false;
      }
    }
    return true;
  }

  /** Waits until a loop goes on; returns the time from when on it counts. */
  private long rest() {
    resting = true;
    // A loop that has gone on before it could see the flag is awake now, or has done a duty cycle.
    if (!closed && seen.values().stream().allMatch(Progress::sleepsOn)) {
      LockSupport.parkNanos(this, LONGEST_REST);
    }
    resting = false;
    long now = clock.getAsLong();
    seen.values().forEach(each -> each.since = now);
    return now;
  }

  /** Looks at all loops; returns for how long it need not look again, unless they all sleep. */
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

  /** Stops to watch, and waits for the thread. */
  void close() throws InterruptedException {
    closed = true;
    LockSupport.unpark(thread);
    thread.join();
  }

  /** The last state that was seen of a loop. */
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

    /** Returns whether it sleeps, and has done no duty cycle since the last look. */
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
      // The look at the cycles must not come before the looks at what was taken up.
      VarHandle.loadLoadFence();
      if (loop.cycles() != cycles || loop.isSleeping()) {
        // What was noted may have been taken up since, and not have waited that long.
        loop.waiters().forgetSeen();
        return;
      }
      loop.waiters().expire(now, state, report::tell);
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
            .append(", and all its connections with it; move what")
            .append(" blocks to another thread, as by publishOn(Schedulers.boundedElastic()):");
    for (StackTraceElement element : watched.getStackTrace()) {
      text.append("\n\tat ").append(element);
    }
    return text.toString();
  }
}
