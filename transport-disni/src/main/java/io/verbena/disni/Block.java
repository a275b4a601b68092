// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.util.Objects.requireNonNull;

import io.verbena.disni.core.RdmaCore;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Native memory for arguments and results of native calls, freed when the block becomes
 * unreachable.
 */
final class Block {
  static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private static volatile @Nullable RdmaCore core;

  private final ByteBuffer bytes;
  private final long address;

  Block(int size) {
    bytes = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
    address = addressOf(bytes);
  }

  /** Sets the core that returns the addresses of buffers; later calls replace it. */
  static void use(RdmaCore loaded) {
    core = loaded;
  }

  /** Returns the address of a direct buffer. A core must have been set before. */
  static long addressOf(ByteBuffer buffer) {
    return requireNonNull(core, "core").address(buffer);
  }

  /** Returns a block with a copy of a buffer's remaining bytes, at least one byte long. */
  static Block copyOf(ByteBuffer data) {
    Block block = new Block(Math.max(1, data.remaining()));
    block.bytes().put(0, data, data.position(), data.remaining());
    return block;
  }

  /** Returns a block of 64-bit words, one for each slot. */
  static Block of(Enum<?>[] slots) {
    return new Block(slots.length * Long.BYTES);
  }

  /** Combines two adjacent 32-bit fields into one 64-bit value, in native byte order. */
  static long pair(int first, int second) {
    int low = LITTLE_ENDIAN ? first : second;
    int high = LITTLE_ENDIAN ? second : first;
    return (long) high << 32 | Integer.toUnsignedLong(low);
  }

  /** Returns the first of two 32-bit fields that were read as one value. */
  static int first(long pair) {
    return (int) (LITTLE_ENDIAN ? pair : pair >>> 32);
  }

  /** Returns the second of two 32-bit fields that were read as one value. */
  static int second(long pair) {
    return (int) (LITTLE_ENDIAN ? pair >>> 32 : pair);
  }

  /** Returns the bytes, in native byte order, for absolute access only. */
  ByteBuffer bytes() {
    return bytes;
  }

  /**
   * Returns the address, for a native call. A caller that does not use the block after the call
   * must {@linkplain #keep keep} it.
   */
  long address() {
    return address;
  }

  /**
   * Keeps the memory from being freed before this point. To be called after a native call that has
   * only the address: the collector may free an unreachable block during the call.
   */
  @SuppressWarnings("ReachabilityFenceUsage") // A native call that throws has ended.
  void keep() {
    Reference.reachabilityFence(this);
  }

  /** Java and C agree on the order of the names. */
  @SuppressWarnings("EnumOrdinal")
  private static int offset(Enum<?> slot) {
    return slot.ordinal() * Long.BYTES;
  }

  long get(Enum<?> slot) {
    return bytes.getLong(offset(slot));
  }

  int getInt(Enum<?> slot) {
    return (int) get(slot);
  }

  Block set(Enum<?> slot, long value) {
    bytes.putLong(offset(slot), value);
    return this;
  }

  /** Returns the UTF-8 text from {@code offset} up to a NUL or to {@code size} bytes. */
  String text(int offset, int size) {
    int length = 0;
    while (length < size && bytes.get(offset + length) != 0) {
      length++;
    }
    byte[] text = new byte[length];
    bytes.get(offset, text);
    return new String(text, StandardCharsets.UTF_8);
  }
}
