// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.verbena.RdmaOptions;

/**
 * Counts the bytes of copied messages that wait for their subscribers, for all connections of a
 * loop. They are no registered memory, which has its own limit. Only on the loop.
 */
final class CopiedBytes {
  /** The loops of a device may keep {@code maxRegisteredBytes} divided by this. */
  private static final int SHARE = 2;

  /** They may keep the JVM's heap divided by this, if that is less. */
  private static final int SHARE_OF_HEAP = 16;

  private final long most;
  private long bytes;

  CopiedBytes(RdmaOptions options) {
    long all =
        Math.min(
            options.maxRegisteredBytes() / SHARE, Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
    most = all / options.loops();
  }

  void add(int count) {
    bytes += count;
  }

  void remove(int count) {
    bytes -= count;
  }

  /** Returns whether the limit is exceeded: peers with copied messages get no more credits then. */
  boolean isFull() {
    return bytes > most;
  }
}
