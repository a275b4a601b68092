// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A SHA-256 digest, as four numbers. */
record Sha256(long first, long second, long third, long fourth) {
  /** Bytes of an encoded digest. */
  static final int LENGTH = 32;

  private static final int CHUNK = 1 << 20;

  /** Computes the digest of the readable bytes, which stay readable. */
  static Sha256 of(ByteBuf bytes) {
    MessageDigest digest = digest();
    digest.update(bytes.nioBuffer());
    return of(digest.digest());
  }

  /** Computes the digest of a file. */
  static Sha256 of(Path file) throws IOException {
    MessageDigest digest = digest();
    byte[] chunk = new byte[CHUNK];
    try (InputStream in = Files.newInputStream(file)) {
      for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
        digest.update(chunk, 0, n);
      }
    }
    return of(digest.digest());
  }

  /**
   * From 64 hexadecimal digits.
   *
   * @throws IllegalArgumentException if it is anything else
   */
  static Sha256 parse(String hex) {
    if (hex.length() != 2 * LENGTH) {
      throw new IllegalArgumentException(
          "sha256: " + hex.length() + " digits (expected: " + 2 * LENGTH + ")");
    }
    return of(HexFormat.of().parseHex(hex));
  }

  /** Reads {@link #LENGTH} bytes. */
  static Sha256 decode(ByteBuf in) {
    return new Sha256(in.readLong(), in.readLong(), in.readLong(), in.readLong());
  }

  /** Appends {@link #LENGTH} bytes. */
  void encode(ByteBuf out) {
    out.writeLong(first).writeLong(second).writeLong(third).writeLong(fourth);
  }

  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(first)
        + hex.toHexDigits(second)
        + hex.toHexDigits(third)
        + hex.toHexDigits(fourth);
  }

  private static Sha256 of(byte[] digest) {
    ByteBuffer bytes = ByteBuffer.wrap(digest);
    return new Sha256(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
