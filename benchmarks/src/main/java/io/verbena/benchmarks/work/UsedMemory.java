// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/** Memory of this JVM's objects and direct buffers. The kernel's memory is not counted. */
final class UsedMemory {
  // Cleaners and finalizers free what a first collection finds to be unreachable; a later one
  // collects it.
  private static final int COLLECTIONS = 3;

  private UsedMemory() {}

  /** Bytes of objects that can be reached, after collections. */
  static long heapBytes() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Bytes of direct buffers, those of pools whole; registered memory is in such buffers, too. */
  static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }
}
