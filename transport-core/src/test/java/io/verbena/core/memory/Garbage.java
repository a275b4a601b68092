// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/** Measures what compiled code allocates in the calling thread. */
final class Garbage {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

  private Garbage() {}

  /**
   * Repeats rounds of {@code work} until a round allocates next to nothing, or until every compiler
   * had time enough.
   *
   * @return the bytes per run in the last round
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
