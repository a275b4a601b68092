// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import io.verbena.ConnectRequest;
import io.verbena.RejectReason;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that programs add to an adapter's own private data, behind its fixed length:
 *
 * <pre>
 *  request   0  length  1        rejection  0  code    4, big-endian
 *            1  bytes                       4  length  1
 *                                           5  text    UTF-8
 * </pre>
 *
 * An adapter that does not know of it sends nothing, or zeros, and that means no bytes.
 */
public final class ProgramData {
  private static final int TEXT = Integer.BYTES + 1;

  private ProgramData() {}

  /** Returns why a connect request does not carry this data, or null. */
  public static @Nullable String refuse(ByteBuffer data) {
    return data.remaining() <= ConnectRequest.MAX_PRIVATE_DATA
        ? null
        : "private data: "
            + data.remaining()
            + " bytes (expected: <= "
            + ConnectRequest.MAX_PRIVATE_DATA
            + ")";
  }

  /** Adds a program's bytes to a handshake. */
  public static ByteBuffer append(ByteBuffer handshake, ByteBuffer data) {
    return ByteBuffer.allocate(handshake.remaining() + 1 + data.remaining())
        .put(handshake.duplicate())
        .put((byte) data.remaining())
        .put(data.duplicate())
        .flip();
  }

  /**
   * Returns the bytes of a program behind a handshake, read-only; null if their length is wrong.
   *
   * @param offset from the buffer's position: the handshake's length
   */
  public static @Nullable ByteBuffer read(ByteBuffer data, int offset) {
    int at = data.position() + offset;
    if (at >= data.limit()) {
      return ByteBuffer.allocate(0).asReadOnlyBuffer();
    }
    int length = Byte.toUnsignedInt(data.get(at));
    return length > data.limit() - at - 1 ? null : data.slice(at + 1, length).asReadOnlyBuffer();
  }

  /** Adds why a connection is refused to a rejection. */
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
   * Returns why a connection was refused, or null if the rejection does not say so. The text is a
   * peer's: what does not print in a line of a log is replaced.
   *
   * @param offset from the buffer's position: the rejection's length
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
    // A byte that is no UTF-8 becomes three: one for each keeps within the limit.
    String printed =
        new String(text, StandardCharsets.UTF_8).replaceAll("[\\p{C}\\p{Zl}\\p{Zp}\\ufffd]", "?");
    return new RejectReason(code, printed);
  }
}
