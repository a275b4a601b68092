// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import java.nio.ByteBuffer;

/** Reads and writes numbers in network byte order that are unsigned or have 24 bits. */
public final class BigEndian {
  private static final int LOW_24_BITS = 0xff_ffff;

  private BigEndian() {}

  static int getByte(ByteBuffer bytes, int offset) {
    return bytes.get(offset) & 0xff;
  }

  static int getShort(ByteBuffer bytes, int offset) {
    return bytes.getShort(offset) & 0xffff;
  }

  /** Returns the low 24 bits of the word at {@code word}. */
  static int get24(ByteBuffer bytes, int word) {
    return bytes.getInt(word) & LOW_24_BITS;
  }

  public static void putShort(ByteBuffer bytes, int offset, int value) {
    bytes.putShort(offset, (short) value);
  }

  /** Sets the low 24 bits of the word at {@code word}; keeps its high byte. */
  static void put24(ByteBuffer bytes, int word, int value) {
    bytes.putInt(word, (bytes.getInt(word) & ~LOW_24_BITS) | (value & LOW_24_BITS));
  }
}
