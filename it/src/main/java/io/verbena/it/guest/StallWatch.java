// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.Arrays;

/**
 * Ends the guest's JVM, with all stack traces on standard error, once its tests have reported
 * nothing for longer than a limit. Jupiter's own limit only interrupts, which a thread in native
 * code or in the kernel ignores.
 */
final class StallWatch {
  static final int EXIT_CODE = 86;

  /** The clock of a guest may jump, so its looks are counted, and not the time between them. */
  private static final long LOOK_MILLIS = 250;

  private final EventWriter events;
  private final Duration limit;

  StallWatch(EventWriter events, Duration limit) {
    this.events = events;
    this.limit = limit;
  }

  void start() {
    var thread = new Thread(this::watch, "stall-watch");
    thread.setDaemon(true);
    thread.start();
  }

  private void watch() {
    try {
      long seen = events.lastEvent();
      for (long silent = 0; silent < limit.toMillis(); silent += LOOK_MILLIS) {
        Thread.sleep(LOOK_MILLIS);
        long last = events.lastEvent();
        if (last != seen) {
          seen = last;
          silent = 0;
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts this thread", e);
    }
    System.err.printf("Nothing has happened for %d s. All threads:%n", limit.toSeconds());
    for (ThreadInfo each : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
      System.err.printf("\"%s\" %s%n", each.getThreadName(), each.getThreadState());
      Arrays.stream(each.getStackTrace()).forEach(frame -> System.err.println("  at " + frame));
    }
    System.err.flush();
    Runtime.getRuntime().halt(EXIT_CODE);
  }
}
