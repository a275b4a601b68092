// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** What the JVM tells of its direct memory, in bytes. */
public final class JvmDirectMemory {
  /** The JVM's option that limits it; without it, the limit is that of the heap. */
  public static final String OPTION = "-XX:MaxDirectMemorySize";

  private JvmDirectMemory() {}

  /** The most that the JVM allows. */
  public static long most() {
    long most = Runtime.getRuntime().maxMemory();
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith(OPTION + '=')) {
        most = bytes(argument.substring(OPTION.length() + 1), most);
      }
    }
    return most;
  }

  /** Parses a size as the JVM does, which has checked it: {@code 64m}. */
  static long bytes(String size, long otherwise) {
    int last = size.length() - 1;
    int unit = last < 0 ? -1 : "kmgt".indexOf(Character.toLowerCase(size.charAt(last)));
    try {
      return Long.parseLong(unit < 0 ? size : size.substring(0, last)) << 10 * (unit + 1);
    } catch (NumberFormatException e) {
      return otherwise;
    }
  }

  /** Reads how much is taken, by anybody; on any thread. */
  public static LongSupplier inUse() {
    for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
      if (pool.getName().equals("direct")) {
        return pool::getTotalCapacity;
      }
    }
    return () -> 0;
  }
}
