// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a slab, or memory that is not registered. Immutable, so that a buffer changes to
 * another block in one step.
 */
final class Block {
  private final @Nullable Slab slab;
  private final @Nullable ByteBuf unregistered;

  /** The whole slab's memory. */
  final ByteBuffer memory;

  /** The offset of the block in {@link #memory}. */
  final int base;

  final int length;

  /** The address of its first byte for the HCA, or 0. */
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

  /** Memory that no HCA reaches, which the block takes over. */
  Block(ByteBuf unregistered, int length) {
    slab = null;
    memory = unregistered.nioBuffer(0, length);
    base = 0;
    this.length = length;
    address = 0;
    lkey = 0;
    this.unregistered = unregistered;
  }

  /** Returns the slab that it is a part of; only of one that is registered. */
  Slab slab() {
    return requireNonNull(slab);
  }

  boolean isRegistered() {
    return slab != null;
  }

  /** Releases memory that is not registered. */
  void releaseUnregistered() {
    ByteBuf memory = unregistered;
    if (memory != null) {
      memory.release();
    }
  }
}
