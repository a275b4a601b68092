// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.verbs.MemoryRegion;
import java.nio.ByteBuffer;

/**
 * Memory that was registered once, and is cut into blocks from its start. No peer has a right to
 * it. Guarded by the lock of its {@link Slabs}; the memory is freed by the garbage collector, so
 * buffers outlive the registration unharmed.
 */
final class Slab {
  private final ByteBuffer memory;
  private final Registration registration;
  private int used;
  private int blocks;

  /** The number of its blocks that were found free, while they are counted. */
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

  /** Deregisters it; if the HCA refuses, it stays open, and can be used. */
  void close() {
    registration.closeOrLeave();
  }
}
