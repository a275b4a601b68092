// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a slab, or unregistered memory. Immutable, so that a buffer changes to another block in
 * one step.
 */
final class Block {
  private final @Nullable Slab slab;
  private final @Nullable ByteBuf unregistered;

  /** The whole slab's memory. */
  final ByteBuffer memory;

  /** The offset of the block in {@link #memory}. */
  final int base;

  final int length;

  /** The HCA's address of the first byte, or 0. */
  final long address;

  final int lkey;

  Block(Slab slab, ByteBuffer memory, int base, int length, long address, int lkey) {
    this.slab = slab;
    this.memory = memory;
    this.base = base;
    this.length = length;
    this.address = address;
    this.lkey = lkey;
    unregistered = null;
  }

  /** A block of unregistered memory, which it takes over. */
  Block(ByteBuf unregistered, int length) {
    slab = null;
    memory = unregistered.nioBuffer(0, length);
    base = 0;
    this.length = length;
    address = 0;
    lkey = 0;
    this.unregistered = unregistered;
  }

  /** Returns the slab of a registered block. */
  Slab slab() {
    return requireNonNull(slab);
  }

  boolean isRegistered() {
    return slab != null;
  }

  /** Releases unregistered memory; does nothing for a registered block. */
  void releaseUnregistered() {
    ByteBuf memory = unregistered;
    if (memory != null) {
      memory.release();
    }
  }
}
