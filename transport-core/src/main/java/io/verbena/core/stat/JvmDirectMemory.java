// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/** The JVM's own count of its direct memory. */
public final class JvmDirectMemory {
  private JvmDirectMemory() {}

  /**
   * Returns the bytes in use, by the whole program. The first call loads the JVM's management,
   * which takes some milliseconds.
   */
  public static long inUse() {
    return Pool.DIRECT.map(BufferPoolMXBean::getTotalCapacity).orElse(0L);
  }

  /** Loads the management classes at the first use. */
  private static final class Pool {
    static final Optional<BufferPoolMXBean> DIRECT =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .findAny();
  }
}
