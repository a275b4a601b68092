// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty.wire;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The private data of a connect request and of its answer:
 *
 * <pre>
 *  0  magic        4
 *  4  version      1
 *  5  trails       1   1 if control words follow the bytes of messages, 0 if they are immediate data
 *  6  port         2   the port that the client has bound, or 0 for the one that it connects from
 *  8  piece        4   the longest message that a receive of this end takes, in bytes
 * 12  receives     4   the peer's first credits, and those that it keeps at all times
 * </pre>
 *
 * @param port 0 to 65535
 * @param trails whether the HCA has no immediate data
 * @param piece bytes, {@link #LEAST_PIECE} at least
 * @param receives {@link #LEAST_RECEIVES} at least
 */
public record Handshake(int port, boolean trails, int piece, int receives) {
  /** The shortest piece, in bytes. */
  public static final int LEAST_PIECE = 64;

  /**
   * One for bytes, and two that bytes may not use: one to return credits, one to end the stream.
   */
  public static final int LEAST_RECEIVES = 3;

  /** The most receives that an end may have. */
  public static final int MOST_RECEIVES = 32_768;

  static final int MAGIC = 0x5642_4e53;

  /**
   * The length of an encoded handshake, in bytes; in a connect request the program's private data
   * follows it.
   */
  public static final int LENGTH = 16;

  private static final byte VERSION = 2;
  private static final int VERSION_AT = 4;
  private static final int TRAILS_AT = 5;
  private static final int PORT_AT = 6;
  private static final int PIECE_AT = 8;
  private static final int RECEIVES_AT = 12;
  private static final int MOST_PIECE = 1 << 20;

  /** Returns the bytes to send. */
  public ByteBuffer encode() {
    return ByteBuffer.allocate(LENGTH)
        .putInt(0, MAGIC)
        .put(VERSION_AT, VERSION)
        .put(TRAILS_AT, (byte) (trails ? 1 : 0))
        .putShort(PORT_AT, (short) port)
        .putInt(PIECE_AT, piece)
        .putInt(RECEIVES_AT, receives);
  }

  /** Reads a peer's handshake; returns null if it is of another protocol or breaks a limit. */
  public static @Nullable Handshake decode(ByteBuffer data) {
    int start = data.position();
    if (data.remaining() < LENGTH
        || data.getInt(start) != MAGIC
        || data.get(start + VERSION_AT) != VERSION) {
      return null;
    }
    int piece = data.getInt(start + PIECE_AT);
    int receives = data.getInt(start + RECEIVES_AT);
    if (piece < LEAST_PIECE
        || piece > MOST_PIECE
        || receives < LEAST_RECEIVES
        || receives > MOST_RECEIVES) {
      return null;
    }
    return new Handshake(
        Short.toUnsignedInt(data.getShort(start + PORT_AT)),
        data.get(start + TRAILS_AT) != 0,
        piece,
        receives);
  }
}
