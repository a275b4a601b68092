package io.verbena.emulated.roce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Numbers in network order at any offset of an array. */
final class BigEndian {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int LOW_24_BITS = 0xff_ffff;

  private BigEndian() {}

  static int getByte(byte[] bytes, int offset) {
    return bytes[offset] & 0xff;
  }

  static int getShort(byte[] bytes, int offset) {
    return (short) SHORT.get(bytes, offset) & 0xffff;
  }

  /** The low 24 bits of the word at {@code word}. */
  static int get24(byte[] bytes, int word) {
    return getInt(bytes, word) & LOW_24_BITS;
  }

  static int getInt(byte[] bytes, int offset) {
    return (int) INT.get(bytes, offset);
  }

  static long getLong(byte[] bytes, int offset) {
    return (long) LONG.get(bytes, offset);
  }

  static void putShort(byte[] bytes, int offset, int value) {
    SHORT.set(bytes, offset, (short) value);
  }

  /** Sets the low 24 bits of the word at {@code word}; its high byte stays. */
  static void put24(byte[] bytes, int word, int value) {
    putInt(bytes, word, (getInt(bytes, word) & ~LOW_24_BITS) | (value & LOW_24_BITS));
  }

  static void putInt(byte[] bytes, int offset, int value) {
    INT.set(bytes, offset, value);
  }

  static void putLong(byte[] bytes, int offset, long value) {
    LONG.set(bytes, offset, value);
  }
}
