// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Measures how many CPUs other processes use, from its creation on. */
public final class OtherLoad {
  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  // The JVM returns the load since it was last asked for, and none the first time.
  private final double before = system.getCpuLoad();
  private final long began = System.nanoTime();
  private final long own = system.getProcessCpuTime();

  /** CPUs that others used on average, at least 0; ask once. */
  public double cpus() {
    double load = system.getCpuLoad();
    if (load < 0 || before < 0) {
      throw new IllegalStateException("CPU load: unknown to this JVM");
    }
    double all = load * Runtime.getRuntime().availableProcessors();
    double ours = (system.getProcessCpuTime() - own) / (double) (System.nanoTime() - began);
    return Math.max(0, all - ours);
  }
}
