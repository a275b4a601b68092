// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.wire;

import java.nio.ByteBuffer;

/**
 * The message that each end sends before the first frame, in the private data of connect and
 * accept.
 *
 * <pre>
 *  0            4         6       8           12             16       20               24
 *  | 0x5652424E | version | first | eagerSize | receiveDepth | window | maxMessageSize |  big-endian
 * </pre>
 *
 * @param version the version of the protocol
 * @param eagerSize the longest message in bytes that its receives take
 * @param first the peer's first grant of frames, an unsigned short
 * @param receiveDepth the most frame credits that the peer may have
 * @param window the peer's first grant of messages, and of immediates
 * @param maxMessageSize the longest message in bytes that it accepts
 */
public record Handshake(
    int version, int first, int eagerSize, int receiveDepth, int window, int maxMessageSize) {

  /** The version of this implementation. In version 1 the number of frame credits was fixed. */
  public static final int VERSION = 2;

  /** The length in bytes of an encoded handshake. Some connection managers pad it with zeroes. */
  public static final int LENGTH = 24;

  static final int MAGIC = 0x5652_424E;
  private static final int LEAST_DEPTH = 4;
  private static final int LEAST_EAGER = 64;
  private static final int MOST = 1 << 20;

  /** Returns the bytes to send. */
  public ByteBuffer encode() {
    return ByteBuffer.allocate(LENGTH)
        .putInt(MAGIC)
        .putShort((short) version)
        .putShort((short) first)
        .putInt(eagerSize)
        .putInt(receiveDepth)
        .putInt(window)
        .putInt(maxMessageSize)
        .flip();
  }

  /**
   * Reads a handshake from the position of {@code data} on.
   *
   * @throws ProtocolException naming the field that is wrong, its value and what was expected
   */
  public static Handshake decode(ByteBuffer data) {
    int at = data.position();
    check(data.remaining() >= LENGTH, "bytes", data.remaining(), ">= " + LENGTH);
    check(data.getInt(at) == MAGIC, "magic", data.getInt(at), Integer.toString(MAGIC));
    int version = data.getShort(at + 4) & 0xffff;
    if (version != VERSION) {
      throw ProtocolException.version(version);
    }
    Handshake read =
        new Handshake(
            version,
            data.getShort(at + 6) & 0xffff,
            data.getInt(at + 8),
            data.getInt(at + 12),
            data.getInt(at + 16),
            data.getInt(at + 20));
    check(
        read.eagerSize >= LEAST_EAGER && read.eagerSize <= MOST,
        "eager size",
        read.eagerSize,
        LEAST_EAGER + ".." + MOST);
    check(
        read.receiveDepth >= LEAST_DEPTH && read.receiveDepth <= MOST,
        "receive depth",
        read.receiveDepth,
        LEAST_DEPTH + ".." + MOST);
    check(
        read.first >= LEAST_DEPTH && read.first <= read.receiveDepth,
        "first grant of frames",
        read.first,
        LEAST_DEPTH + ".." + read.receiveDepth);
    check(read.window >= 1 && read.window <= MOST, "window", read.window, "1.." + MOST);
    check(read.maxMessageSize >= 0, "longest message", read.maxMessageSize, ">= 0");
    return read;
  }

  private static void check(boolean valid, String field, int value, String expected) {
    if (!valid) {
      throw ProtocolException.malformed("handshake: " + field, value, expected);
    }
  }
}
