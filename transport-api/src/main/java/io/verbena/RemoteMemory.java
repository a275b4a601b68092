// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.netty.buffer.ByteBuf;
import java.util.EnumSet;
import java.util.Set;

/**
 * A token for a peer's registered memory: its address, length, key and rights. Its encoding, for
 * messages:
 *
 * <pre>
 *  0      1        2       4          12        20       24
 *  | 0x52 | version | rights | address | length  | key    |    big-endian
 * </pre>
 *
 * @param address the address of the first byte, at the peer
 * @param length the length in bytes, at least 0
 * @param key the peer's rkey
 * @param rights the operations that the peer allows
 */
public record RemoteMemory(long address, long length, int key, Set<Right> rights) {

  /** The length of an encoded token, in bytes. */
  public static final int ENCODED_LENGTH = 24;

  private static final int MAGIC = 0x52;
  private static final int VERSION = 1;
  private static final int ALL_RIGHTS = 7;

  /** A right that memory gives to peers. */
  public enum Right {
    READ(1),
    WRITE(2),
    ATOMIC(4);

    private final int bit;

    Right(int bit) {
      this.bit = bit;
    }
  }

  public RemoteMemory {
    if (length < 0) {
      throw new IllegalArgumentException("length: " + length + " (expected: >= 0)");
    }
    rights = Set.copyOf(rights);
  }

  /**
   * Returns the token for a part of this memory; offset and length are in bytes.
   *
   * @throws IndexOutOfBoundsException if the part is not within this memory
   */
  public RemoteMemory slice(long offset, long partLength) {
    if (offset < 0 || partLength < 0 || offset > length - partLength) {
      throw new IndexOutOfBoundsException(
          "offset: " + offset + ", length: " + partLength + " (expected: within " + length + ")");
    }
    return new RemoteMemory(address + offset, partLength, key, rights);
  }

  /** Appends the token to {@code out}, {@link #ENCODED_LENGTH} bytes. */
  public void encode(ByteBuf out) {
    int bits = 0;
    for (Right right : rights) {
      bits |= right.bit;
    }
    out.writeByte(MAGIC).writeByte(VERSION).writeShort(bits);
    out.writeLong(address).writeLong(length).writeInt(key);
  }

  /**
   * Reads a token from {@code in}; leaves {@code in} unchanged if the token is malformed.
   *
   * @throws MalformedTokenException naming the field, its value and the expected value
   */
  public static RemoteMemory decode(ByteBuf in) {
    int at = in.readerIndex();
    check(in.readableBytes() >= ENCODED_LENGTH, "bytes", in.readableBytes(), ">= 24");
    check(in.getUnsignedByte(at) == MAGIC, "magic", in.getUnsignedByte(at), "82");
    check(in.getUnsignedByte(at + 1) == VERSION, "version", in.getUnsignedByte(at + 1), "1");
    int bits = in.getUnsignedShort(at + 2);
    check((bits & ~ALL_RIGHTS) == 0, "rights", bits, "0..7");
    long length = in.getLong(at + 12);
    check(length >= 0, "length", length, ">= 0");
    EnumSet<Right> rights = EnumSet.noneOf(Right.class);
    for (Right right : Right.values()) {
      if ((bits & right.bit) != 0) {
        rights.add(right);
      }
    }
    RemoteMemory token = new RemoteMemory(in.getLong(at + 4), length, in.getInt(at + 20), rights);
    in.skipBytes(ENCODED_LENGTH);
    return token;
  }

  private static void check(boolean valid, String field, long value, String expected) {
    if (!valid) {
      throw new MalformedTokenException(field + ": " + value + " (expected: " + expected + ")");
    }
  }

  /** Leaves out the key, which is a secret. */
  @Override
  public String toString() {
    return "RemoteMemory[0x" + Long.toHexString(address) + " + " + length + ' ' + rights + ']';
  }
}
