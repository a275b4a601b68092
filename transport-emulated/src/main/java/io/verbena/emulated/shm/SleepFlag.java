// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A flag that is set while a host sleeps, in memory that its peers have mapped.
 *
 * <p>The sleeper sets the flag, and then checks again for packets. A writer publishes a packet, and
 * then checks the flag. Both have a full fence between the two steps, so that at least one of them
 * sees the other's first step: no wake-up is lost. Of several writers only one clears the flag, and
 * wakes the sleeper. If that writer is stopped before the wake-up, or if a peer writes arbitrary
 * values to the flag, the sleeper is not woken: so sleeps are short.
 */
final class SleepFlag {
  static final int LENGTH = 4096;

  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
  private static final int AT = 64;

  /**
   * The offset of the count of slabs that the host has freed, away from the flag, which changes
   * often.
   */
  private static final int FREED = 1024;

  private static final int AWAKE = 0;
  private static final int ASLEEP = 1;

  private final Mapping mapping;
  private final ByteBuffer memory;

  SleepFlag(Mapping mapping) {
    this.mapping = mapping;
    memory = mapping.bytes();
  }

  /** Returns the table of the host's read grants, which follows the flag. */
  GrantTable grants() {
    return new GrantTable(memory.slice(LENGTH, GrantTable.LENGTH));
  }

  /** Unmaps the flag and the table; no thread may use them any more. */
  void unmap() {
    mapping.close();
  }

  /** Sleeper: sets the flag, so that writers wake the sleeper from now on. */
  void sleeps() {
    INT.setVolatile(memory, AT, ASLEEP);
    VarHandle.fullFence();
  }

  /** Sleeper: clears the flag. */
  void awakes() {
    INT.setRelease(memory, AT, AWAKE);
  }

  /**
   * Writer, after it has published a packet: clears the flag; returns whether to wake the sleeper.
   */
  boolean takeIfAsleep() {
    VarHandle.fullFence();
    return (int) INT.getOpaque(memory, AT) == ASLEEP
        && INT.compareAndSet(memory, AT, ASLEEP, AWAKE);
  }

  /** Host: counts a slab that it has freed, so that peers unmap the slab. */
  void slabFreed() {
    int unused = (int) INT.getAndAdd(memory, FREED, 1);
  }

  /** Peer: returns the count of slabs that the host has freed. */
  int slabsFreed() {
    return (int) INT.getAcquire(memory, FREED);
  }
}
