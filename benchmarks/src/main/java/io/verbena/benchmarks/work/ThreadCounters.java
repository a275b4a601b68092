// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * The allocated bytes and the CPU time of all Java threads of this JVM since the creation of this
 * object. Threads that ended meanwhile are not counted, nor are the JVM's own.
 */
public final class ThreadCounters {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final long[] ids = THREADS.getAllThreadIds();
  private final long[] allocated = THREADS.getThreadAllocatedBytes(ids);
  private final long[] cpu = THREADS.getThreadCpuTime(ids);

  /** Returns the bytes allocated by all threads. The call itself allocates some hundred bytes. */
  public long allocatedBytes() {
    long[] now = THREADS.getAllThreadIds();
    return grown(now, THREADS.getThreadAllocatedBytes(now), allocated, -1);
  }

  /** Returns the CPU nanoseconds of all threads. */
  public long cpuNanos() {
    long[] now = THREADS.getAllThreadIds();
    return grown(now, THREADS.getThreadCpuTime(now), cpu, -1);
  }

  /** Returns the CPU nanoseconds of all threads except the calling one. */
  public long othersCpuNanos() {
    long[] now = THREADS.getAllThreadIds();
    return grown(now, THREADS.getThreadCpuTime(now), cpu, Thread.currentThread().getId());
  }

  private long grown(long[] nowIds, long[] now, long[] before, long except) {
    long sum = 0;
    for (int i = 0; i < nowIds.length; i++) {
      if (nowIds[i] != except && now[i] > 0) {
        sum += now[i] - before(nowIds[i], before);
      }
    }
    return sum;
  }

  private long before(long id, long[] before) {
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] == id) {
        return Math.max(before[i], 0);
      }
    }
    return 0;
  }
}
