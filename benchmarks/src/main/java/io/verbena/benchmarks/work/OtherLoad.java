// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures how many CPUs other processes use, from its creation on, without second processes of
 * participants.
 */
public final class OtherLoad {
  private static final AtomicLong SECOND_PROCESSES = new AtomicLong();

  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  // getCpuLoad returns the load since its last call, and no value at the first call.
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

  /** Returns the average number of CPUs that others used, at least 0. Must be called once only. */
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
