// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.core.loop.CompletionLoop;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports loops that have not done a duty cycle for some time, and do not sleep. It looks at them
 * from a thread of its own, and costs them nothing.
 */
final class LoopWatchdog {
  /** Takes what a watchdog finds, on its thread. */
  @FunctionalInterface
  interface Report {

    /**
     * Called when a loop is held up, at most once a minute for each.
     *
     * @param loop the name of its thread
     * @param nanos how long it has done no duty cycle
     * @param message says so, with the thread's stack and what to do
     */
    void heldUp(String loop, long nanos, String message);
  }

  private static final long BETWEEN_REPORTS = TimeUnit.MINUTES.toNanos(1);
  private static final long SHORTEST_PERIOD = TimeUnit.MILLISECONDS.toNanos(1);

  private final long limit;
  private final Supplier<List<CompletionLoop>> loops;
  private final Report report;
  private final IdentityHashMap<CompletionLoop, Progress> seen = new IdentityHashMap<>();
  private final Thread thread;
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
    this.limit = limit;
    this.loops = loops;
    this.report = report;
    thread = new Thread(null, this::work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(LoopWatchdog.class.getClassLoader());
    thread.start();
  }

  private void work() {
    long period = Math.max(SHORTEST_PERIOD, limit / 2);
    while (!closed) {
      LockSupport.parkNanos(this, period);
      check(System.nanoTime());
    }
  }

  private void check(long now) {
    List<CompletionLoop> current = loops.get();
    seen.keySet().retainAll(current);
    for (CompletionLoop loop : current) {
      Thread watched = loop.thread();
      if (watched != null && !closed) {
        seen.computeIfAbsent(loop, l -> new Progress(now)).check(loop, watched, now);
      }
    }
  }

  /** Stops to watch, and waits for the thread. */
  void close() throws InterruptedException {
    closed = true;
    LockSupport.unpark(thread);
    thread.join();
  }

  /** What was last seen of a loop. */
  private final class Progress {
    private int cycles;
    private long since;
    private boolean isReported;
    private @Nullable Long lastReport;

    Progress(long now) {
      since = now;
    }

    void check(CompletionLoop loop, Thread watched, long now) {
      int current = loop.cycles();
      if (current != cycles || loop.isSleeping() || !watched.isAlive()) {
        cycles = current;
        since = now;
        isReported = false;
      } else if (now - since >= limit && !isReported && isDue(now)) {
        isReported = true;
        lastReport = now;
        report.heldUp(watched.getName(), now - since, message(watched, now - since));
      }
    }

    private boolean isDue(long now) {
      Long last = lastReport;
      return last == null || now - last >= BETWEEN_REPORTS;
    }
  }

  private static String message(Thread watched, long nanos) {
    StringBuilder text =
        new StringBuilder("completion loop ")
            .append(watched.getName())
            .append(" has been held up for ")
            .append(TimeUnit.NANOSECONDS.toMillis(nanos))
            .append(" ms, and all its connections with it (RdmaOptions.stallWarning); move what")
            .append(" blocks to another thread, as by publishOn(Schedulers.boundedElastic()):");
    for (StackTraceElement element : watched.getStackTrace()) {
      text.append("\n\tat ").append(element);
    }
    return text.toString();
  }
}
