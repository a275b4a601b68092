// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.wire;

import java.nio.ByteBuffer;

/**
 * The reason why a connect was rejected, in the private data of the reject.
 *
 * <pre>
 *  0            4         6        8
 *  | 0x5652424E | version | reason |   big-endian
 * </pre>
 *
 * @param version the protocol version of the rejecting end
 * @param reason why the connect was rejected
 */
public record Rejection(int version, Reason reason) {

  /** The length in bytes of an encoded rejection. */
  public static final int LENGTH = 8;

  /** Reasons, by their number on the wire. */
  public enum Reason {
    /** A reason that this version does not know. */
    UNKNOWN(0, "for a reason unknown"),
    /** The handshake has another version. */
    VERSION(1, "as it speaks another version"),
    /** The handshake is malformed. */
    MALFORMED(2, "as the handshake is malformed"),
    /** The server has no memory, queue pair or place left. */
    RESOURCES(3, "as it has no resources left"),
    /** The server is being closed. */
    CLOSING(4, "as it is closing"),
    /** A limit or the program refused the connection; the reason follows in the private data. */
    REFUSED(5, "for a reason that it does not tell");

    private final int code;
    private final String text;

    Reason(int code, String text) {
      this.code = code;
      this.text = text;
    }

    static Reason of(int code) {
      for (Reason reason : values()) {
        if (reason.code == code) {
          return reason;
        }
      }
      return UNKNOWN;
    }

    /** Returns a human-readable text. */
    public String text() {
      return text;
    }
  }

  /** Returns the bytes to send. */
  public ByteBuffer encode() {
    return ByteBuffer.allocate(LENGTH)
        .putInt(Handshake.MAGIC)
        .putShort((short) version)
        .putShort((short) reason.code)
        .flip();
  }

  /**
   * Reads a rejection from the position of {@code data} on.
   *
   * @throws ProtocolException if the bytes are no rejection
   */
  public static Rejection decode(ByteBuffer data) {
    int at = data.position();
    if (data.remaining() < LENGTH) {
      throw ProtocolException.malformed("rejection: bytes", data.remaining(), ">= " + LENGTH);
    }
    if (data.getInt(at) != Handshake.MAGIC) {
      throw ProtocolException.malformed(
          "rejection: magic", data.getInt(at), Integer.toString(Handshake.MAGIC));
    }
    return new Rejection(data.getShort(at + 4) & 0xffff, Reason.of(data.getShort(at + 6) & 0xffff));
  }
}
