// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.report;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Shows the progress of a program: a bar for each step on a terminal, a line elsewhere. */
public final class Progress implements AutoCloseable {
  private static final int BAR_WIDTH = 30;
  private static final int LABEL_WIDTH = 44;
  private static final long BAR_MILLIS = 100;
  private static final long LINE_MILLIS = 2_000;

  private final PrintStream out;
  private final boolean bars;
  private final ScheduledExecutorService ticker =
      Executors.newSingleThreadScheduledExecutor(Progress::tickerThread);

  /**
   * @param bars whether {@code out} is a terminal
   */
  public Progress(PrintStream out, boolean bars) {
    this.out = out;
    this.bars = bars;
  }

  /** Returns whether standard input and output are a terminal that draws bars. */
  @SuppressWarnings(
      "SystemConsoleNull") // on JDK 22 to 24 it is never null: bars in a file, at worst
  public static boolean onTerminal() {
    String terminal = System.getenv("TERM");
    return System.console() != null && terminal != null && !terminal.equals("dumb");
  }

  /**
   * Begins a step.
   *
   * @param total what {@link Step#advance} adds up to
   */
  public Step begin(String label, long total) {
    return new Step(label, Math.max(1, total));
  }

  @Override
  public void close() {
    ticker.shutdownNow();
  }

  private static Thread tickerThread(Runnable task) {
    Thread thread = new Thread(task, "progress");
    thread.setDaemon(true);
    return thread;
  }

  /** A step that is under way; closing it ends it. */
  public final class Step implements AutoCloseable {
    private final String label;
    private final long total;
    private final LongAdder done = new LongAdder();
    private final long began = System.nanoTime();
    private final ScheduledFuture<?> ticks;

    private Step(String label, long total) {
      this.label = String.format(Locale.ROOT, "%-" + LABEL_WIDTH + "s", label);
      this.total = total;
      if (!bars) {
        out.print(this.label);
      }
      long millis = bars ? BAR_MILLIS : LINE_MILLIS;
      this.ticks = ticker.scheduleAtFixedRate(this::tick, millis, millis, TimeUnit.MILLISECONDS);
    }

    /** Advances the step. May be called by any thread. */
    public void advance(long amount) {
      done.add(amount);
    }

    @Override
    public synchronized void close() {
      ticks.cancel(false);
      double seconds = (System.nanoTime() - began) / 1e9;
      if (bars) {
        out.print('\r' + label);
      }
      out.printf(Locale.ROOT, " %6.1f s%s%n", seconds, bars ? " ".repeat(BAR_WIDTH) : "");
    }

    private synchronized void tick() {
      if (ticks.isCancelled()) {
        return;
      }
      int percent = (int) Math.min(100, 100 * done.sum() / total);
      if (bars) {
        int filled = BAR_WIDTH * percent / 100;
        String bar = "#".repeat(filled) + "-".repeat(BAR_WIDTH - filled);
        out.printf(Locale.ROOT, "\r%s [%s] %3d %%", label, bar, percent);
      } else {
        out.printf(Locale.ROOT, " %d %%", percent);
      }
      out.flush();
    }
  }
}
