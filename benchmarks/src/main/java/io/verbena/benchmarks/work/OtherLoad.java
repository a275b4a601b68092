// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures how many CPUs other processes use, from its creation on. Second processes of
 * participants are none of them.
 */
public final class OtherLoad {
  private static final AtomicLong SECOND_PROCESSES = new AtomicLong();

  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  // The JVM returns the load since it was last asked for, and none the first time.
  private final double before = system.getCpuLoad();
  private final long began = System.nanoTime();
  private final long own = ownNanos();

  /** Counts the CPU that a second process of a participant used until its end. */
  static void addSecondProcess(long nanos) {
    SECOND_PROCESSES.addAndGet(nanos);
  }

  private long ownNanos() {
    return system.getProcessCpuTime() + SECOND_PROCESSES.get();
  }

  /** CPUs that others used on average, at least 0; ask once. */
  public double cpus() {
    double load = system.getCpuLoad();
    if (load < 0 || before < 0) {
      throw new IllegalStateException("CPU load: unknown to this JVM");
    }
    double all = load * Runtime.getRuntime().availableProcessors();
    double ours = (ownNanos() - own) / (double) (System.nanoTime() - began);
    return Math.max(0, all - ours);
  }
}
