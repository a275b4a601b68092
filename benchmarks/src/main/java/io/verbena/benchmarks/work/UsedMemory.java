// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/** Memory of this JVM's objects and direct buffers. The kernel's memory is not counted. */
final class UsedMemory {
  // Objects with cleaners or finalizers take more than one collection: the first one finds them
  // unreachable, and a later one frees their memory.
  private static final int COLLECTIONS = 3;

  private UsedMemory() {}

  /** Returns the bytes of reachable objects. Runs collections first. */
  static long heapBytes() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Returns the bytes of direct buffers, including whole pools and registered memory. */
  static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }
}
