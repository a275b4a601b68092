// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A flag that is set while a host sleeps, in memory that its peers have mapped.
 *
 * <p>The sleeper sets the flag and then checks again for something to read; a writer publishes and
 * then checks the flag. Both put a full fence between the two steps, so that one of them sees the
 * other's: no wake-up is lost. Of many writers one clears the flag, and wakes the sleeper. If that
 * writer is stopped before it does, or writes arbitrary values here, nobody wakes the sleeper: so
 * sleeps are short.
 */
final class SleepFlag {
  static final int LENGTH = 4096;

  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
  private static final int AT = 64;

  /** The count of slabs that the host has freed, apart from what changes often. */
  private static final int FREED = 1024;

  private static final int AWAKE = 0;
  private static final int ASLEEP = 1;

  private final Mapping mapping;
  private final ByteBuffer memory;

  SleepFlag(Mapping mapping) {
    this.mapping = mapping;
    memory = mapping.bytes();
  }

  /** Returns the table behind the flag, of what the host grants. */
  GrantTable grants() {
    return new GrantTable(memory.slice(LENGTH, GrantTable.LENGTH));
  }

  /** Unmaps the flag, which no thread uses any more. */
  void unmap() {
    mapping.close();
  }

  /** Sleeper: sets the flag; from now on it is woken. */
  void sleeps() {
    INT.setVolatile(memory, AT, ASLEEP);
    VarHandle.fullFence();
  }

  /** Sleeper: clears the flag. */
  void awakes() {
    INT.setRelease(memory, AT, AWAKE);
  }

  /** Writer, after it has published: clears the flag; returns whether it must wake the sleeper. */
  boolean takeIfAsleep() {
    VarHandle.fullFence();
    return (int) INT.getOpaque(memory, AT) == ASLEEP
        && INT.compareAndSet(memory, AT, ASLEEP, AWAKE);
  }

  /** Host: counts a slab that is gone, so that peers unmap it. */
  void slabFreed() {
    int unused = (int) INT.getAndAdd(memory, FREED, 1);
  }

  /** Peer: returns the count of slabs that are gone. */
  int slabsFreed() {
    return (int) INT.getAcquire(memory, FREED);
  }
}
