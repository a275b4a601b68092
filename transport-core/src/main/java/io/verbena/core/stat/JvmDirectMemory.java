// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/** What the JVM tells of its direct memory, in bytes. */
public final class JvmDirectMemory {
  /** The JVM's option that limits it; without it, the limit is that of the heap. */
  public static final String OPTION = "-XX:MaxDirectMemorySize";

  private JvmDirectMemory() {}

  /** The most that the JVM allows, which Netty has found out. */
  public static long most() {
    return PlatformDependent.estimateMaxDirectMemory();
  }

  /** How much is taken, by anybody. The first call takes the JVM's management some milliseconds. */
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
