// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import io.verbena.ConnectRequest;
import io.verbena.RejectReason;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The layout of the bytes that programs add to an adapter's private data, behind the adapter's
 * fixed length:
 *
 * <pre>
 *  request   0  length  1        rejection  0  code    4, big-endian
 *            1  bytes                       4  length  1
 *                                           5  text    UTF-8
 * </pre>
 *
 * An adapter that does not support this sends nothing or zeros, which both mean no bytes.
 */
public final class ProgramPrivateData {
  private static final int TEXT = Integer.BYTES + 1;

  private ProgramPrivateData() {}

  /** Returns the reason why a connect request cannot carry this data, or null if it can. */
  public static @Nullable String refuse(ByteBuffer data) {
    return data.remaining() <= ConnectRequest.MAX_PRIVATE_DATA
        ? null
        : "private data: "
            + data.remaining()
            + " bytes (expected: <= "
            + ConnectRequest.MAX_PRIVATE_DATA
            + ")";
  }

  /** Returns a handshake with a program's bytes behind it. */
  public static ByteBuffer append(ByteBuffer handshake, ByteBuffer data) {
    return ByteBuffer.allocate(handshake.remaining() + 1 + data.remaining())
        .put(handshake.duplicate())
        .put((byte) data.remaining())
        .put(data.duplicate())
        .flip();
  }

  /**
   * Returns the program's bytes behind a handshake, read-only; null if their length is wrong.
   *
   * @param offset the length of the handshake, from the buffer's position
   */
  public static @Nullable ByteBuffer read(ByteBuffer data, int offset) {
    int at = data.position() + offset;
    if (at >= data.limit()) {
      return ByteBuffer.allocate(0).asReadOnlyBuffer();
    }
    int length = Byte.toUnsignedInt(data.get(at));
    return length > data.limit() - at - 1 ? null : data.slice(at + 1, length).asReadOnlyBuffer();
  }

  /** Returns a rejection with the reason behind it. */
  public static ByteBuffer append(ByteBuffer rejection, RejectReason reason) {
    byte[] text = reason.text().getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(rejection.remaining() + TEXT + text.length)
        .put(rejection.duplicate())
        .putInt(reason.code())
        .put((byte) text.length)
        .put(text)
        .flip();
  }

  /**
   * Returns the reason behind a rejection, or null if there is none. The text comes from a peer:
   * characters that cannot be printed in a line of a log are replaced.
   *
   * @param offset the length of the rejection, from the buffer's position
   */
  public static @Nullable RejectReason readReason(ByteBuffer data, int offset) {
    int at = data.position() + offset;
    if (data.limit() - at < TEXT) {
      return null;
    }
    int code = data.getInt(at);
    int length = Byte.toUnsignedInt(data.get(at + Integer.BYTES));
    if (code < RejectReason.HOOK_FAILED
        || code > 0xffff
        || length > RejectReason.MAX_TEXT
        || length > data.limit() - at - TEXT) {
      return null;
    }
    byte[] text = new byte[length];
    data.get(at + TEXT, text);
    // An invalid byte becomes a replacement character of 3 bytes; a '?' keeps within the limit.
    String printed =
        new String(text, StandardCharsets.UTF_8).replaceAll("[\\p{C}\\p{Zl}\\p{Zp}\\ufffd]", "?");
    return new RejectReason(code, printed);
  }
}
