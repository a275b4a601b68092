// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;

/** Reads and writes native memory by its address, as C does: without any check. */
final class Memory {
  @SuppressWarnings("restricted") // The program decides about --enable-native-access.
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private Memory() {}

  static long getLong(long address) {
    return ALL.get(JAVA_LONG, address);
  }

  static int getInt(long address) {
    return ALL.get(JAVA_INT, address);
  }

  static int getUnsignedShort(long address) {
    return Short.toUnsignedInt(ALL.get(JAVA_SHORT, address));
  }

  static int getUnsignedByte(long address) {
    return Byte.toUnsignedInt(ALL.get(JAVA_BYTE, address));
  }

  static void putLong(long address, long value) {
    ALL.set(JAVA_LONG, address, value);
  }

  static void putInt(long address, long value) {
    ALL.set(JAVA_INT, address, (int) value);
  }

  static void putShort(long address, long value) {
    ALL.set(JAVA_SHORT, address, (short) value);
  }

  static void putByte(long address, long value) {
    ALL.set(JAVA_BYTE, address, (byte) value);
  }

  static void copy(long from, long to, long length) {
    MemorySegment.copy(ALL, from, ALL, to, length);
  }

  /** Returns the length of a text that ends with NUL, at most {@code most} bytes. */
  private static int length(long text, int most) {
    int length = 0;
    while (length < most && ALL.get(JAVA_BYTE, text + length) != 0) {
      length++;
    }
    return length;
  }

  static String text(long text, int most) {
    byte[] bytes = new byte[length(text, most)];
    MemorySegment.copy(ALL, JAVA_BYTE, text, bytes, 0, bytes.length);
    return new String(bytes, UTF_8);
  }

  /** Copies a text into {@code size} bytes, truncated if it does not fit, and padded with NUL. */
  static void copyText(long from, long to, int size) {
    int length = length(from, size - 1);
    copy(from, to, length);
    ALL.asSlice(to + length, size - length).fill((byte) 0);
  }
}
