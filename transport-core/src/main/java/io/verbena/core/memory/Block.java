// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import java.nio.ByteBuffer;

/** A part of a slab. Immutable, so that a buffer changes to another block in one step. */
final class Block {
  final Slab slab;

  /** The whole slab's memory. */
  final ByteBuffer memory;

  /** Where the block begins in {@link #memory}. */
  final int base;

  final int length;

  /** The address of its first byte for the HCA. */
  final long address;

  final int lkey;

  Block(Slab slab, ByteBuffer memory, int base, int length, long address, int lkey) {
    this.slab = slab;
    this.memory = memory;
    this.base = base;
    this.length = length;
    this.address = address;
    this.lkey = lkey;
  }
}
