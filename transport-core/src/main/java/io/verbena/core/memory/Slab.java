// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.verbs.MemoryRegion;
import java.nio.ByteBuffer;

/**
 * Memory that is registered as a whole, and cut into blocks from the start. Peers have no right to
 * it. Guarded by the lock of its {@link Slabs}. The garbage collector frees the memory, so buffers
 * stay readable after the registration is closed.
 */
final class Slab {
  private final ByteBuffer memory;
  private final Registration registration;
  private int used;
  private int blocks;

  /** The number of free blocks found so far, during a count. */
  private int idle;

  Slab(ByteBuffer memory, Registration registration) {
    this.memory = memory;
    this.registration = registration;
  }

  boolean hasRoom(int length) {
    return length <= memory.capacity() - used;
  }

  Block cut(int length) {
    MemoryRegion region = registration.region();
    Block block = new Block(this, memory, used, length, region.address() + used, region.lkey());
    used += length;
    blocks++;
    return block;
  }

  void clearIdle() {
    idle = 0;
  }

  void countIdle() {
    idle++;
  }

  boolean isIdle() {
    return idle == blocks;
  }

  boolean isOpen() {
    return registration.isOpen();
  }

  /** Deregisters the slab; if the HCA refuses, the slab stays open and usable. */
  void close() {
    registration.closeOrLeave();
  }
}
