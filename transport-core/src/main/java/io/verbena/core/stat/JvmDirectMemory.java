// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/** The JVM's own figures of its direct memory. */
public final class JvmDirectMemory {
  private JvmDirectMemory() {}

  /** The bytes taken, by anybody. The first call takes the JVM's management some milliseconds. */
  public static long inUse() {
    return Pool.DIRECT.map(BufferPoolMXBean::getTotalCapacity).orElse(0L);
  }

  /** Loaded when it is asked for. */
  private static final class Pool {
    static final Optional<BufferPoolMXBean> DIRECT =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .findAny();
  }
}
