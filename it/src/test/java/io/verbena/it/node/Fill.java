// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;

/** Contents for checks: bytes that depend on a number. */
public final class Fill {
  private Fill() {}

  /** Returns the bytes for a number. */
  public static byte[] bytes(long number, int length) {
    byte[] bytes = new byte[length];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  /** Writes the bytes for a number into a part of a buffer. */
  public static void write(ByteBuffer buffer, int offset, long number, int length) {
    buffer.put(offset, bytes(number, length));
  }

  /** Fails unless a part of a buffer has the bytes for a number. */
  public static void check(ByteBuffer buffer, int offset, long number, int length) {
    byte[] bytes = new byte[length];
    buffer.get(offset, bytes);
    assertThat(bytes).as("contents number %d", number).isEqualTo(bytes(number, length));
  }
}
