// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.util.Objects.requireNonNull;

import io.verbena.disni.core.RdmaCore;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Memory outside the heap, for arguments and results of native calls. */
final class Block {
  static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private static volatile @Nullable RdmaCore core;

  private final ByteBuffer bytes;
  private final long address;

  Block(int size) {
    bytes = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
    address = addressOf(bytes);
  }

  /** Sets the core that finds the address of memory: the last one loaded. */
  static void toldBy(RdmaCore loaded) {
    core = loaded;
  }

  /** Returns where a direct buffer is, once a core is loaded. */
  static long addressOf(ByteBuffer buffer) {
    return requireNonNull(core, "core").address(buffer);
  }

  /**
   * A block with the bytes between a buffer's position and limit; of one byte if there are none.
   */
  static Block copyOf(ByteBuffer data) {
    Block block = new Block(Math.max(1, data.remaining()));
    block.bytes().put(0, data, data.position(), data.remaining());
    return block;
  }

  /** A block of 64-bit words, one for each slot. */
  static Block of(Enum<?>[] slots) {
    return new Block(slots.length * Long.BYTES);
  }

  /** Two fields of 32 bits that stand side by side, in native order, as one write. */
  static long pair(int first, int second) {
    int low = LITTLE_ENDIAN ? first : second;
    int high = LITTLE_ENDIAN ? second : first;
    return (long) high << 32 | Integer.toUnsignedLong(low);
  }

  /** The first of two fields of 32 bits that were read as one. */
  static int first(long pair) {
    return (int) (LITTLE_ENDIAN ? pair : pair >>> 32);
  }

  /** The second of them. */
  static int second(long pair) {
    return (int) (LITTLE_ENDIAN ? pair >>> 32 : pair);
  }

  /** Its bytes, in native order; only absolute access. */
  ByteBuffer bytes() {
    return bytes;
  }

  /**
   * Returns the address, for a native call. A caller that does not look into it afterwards
   * {@linkplain #keep keeps} it.
   */
  long address() {
    return address;
  }

  /**
   * Keeps the memory until here, behind a native call that has its address alone: an unreachable
   * block may be collected while the call goes on.
   */
  @SuppressWarnings("ReachabilityFenceUsage") // If the call throws, it has ended.
  void keep() {
    Reference.reachabilityFence(this);
  }

  /** The order of the names is what the two sides agree on. */
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

  /** The text from {@code offset} up to a NUL, of {@code size} bytes at the most. */
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
