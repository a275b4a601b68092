// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Logs failures of an HCA's own code on threads that continue: at most {@value #BURST} lines in ten
 * seconds. The next line holds the number of lines left out. Thread-safe.
 */
public final class FailureLog {
  /** The name of the logger. */
  public static final String NAME = "io.verbena.hca";

  private static final int BURST = 10;
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final FailureLog INSTANCE =
      new FailureLog(System.getLogger(NAME), System::nanoTime);

  private final Logger logger;
  private final LongSupplier clock;
  private long windowStart;
  private int inWindow;
  private long leftOut;

  FailureLog(Logger logger, LongSupplier clock) {
    this.logger = logger;
    this.clock = clock;
    windowStart = clock.getAsLong();
  }

  /** Returns the log of this JVM. */
  public static FailureLog get() {
    return INSTANCE;
  }

  /** Logs a failure with its stack and the name of the present thread, which continues. */
  public void failed(Throwable why) {
    long before = admit();
    if (before >= 0) {
      String text = Thread.currentThread().getName() + " goes on after a failure";
      logger.log(
          Level.ERROR,
          before == 0 ? text : text + "; " + before + " before it were not logged",
          why);
    }
  }

  /**
   * Returns the number of lines left out since the last line, or -1 if this line must be left out.
   */
  private synchronized long admit() {
    long now = clock.getAsLong();
    if (now - windowStart >= WINDOW_NANOS) {
      windowStart = now;
      inWindow = 0;
    }
    if (inWindow == BURST) {
      leftOut++;
      return -1;
    }
    inWindow++;
    long before = leftOut;
    leftOut = 0;
    return before;
  }
}
