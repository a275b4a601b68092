// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/** Counts what the calling thread allocates once its code is compiled, whenever that is. */
final class Garbage {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

  private Garbage() {}

  /**
   * Runs {@code work} round after round, until a round allocates next to nothing or there was time
   * enough for every compiler.
   *
   * @return the bytes for each run in the last round
   */
  static double perRun(int rounds, Runnable work) {
    long deadline = System.nanoTime() + PATIENCE;
    double bytes;
    do {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < rounds; i++) {
        work.run();
      }
      bytes = (THREADS.getCurrentThreadAllocatedBytes() - before) / (double) rounds;
    } while (bytes >= 0.5 && System.nanoTime() < deadline);
    return bytes;
  }
}
