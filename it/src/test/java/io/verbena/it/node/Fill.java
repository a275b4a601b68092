// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;

/** Contents that can be checked: bytes that follow from a number. */
public final class Fill {
  private Fill() {}

  /** The bytes of this number. */
  public static byte[] bytes(long number, int length) {
    byte[] bytes = new byte[length];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  /** Writes them into a part of a buffer. */
  public static void write(ByteBuffer buffer, int offset, long number, int length) {
    buffer.put(offset, bytes(number, length));
  }

  /** Fails unless that part holds them. */
  public static void check(ByteBuffer buffer, int offset, long number, int length) {
    byte[] bytes = new byte[length];
    buffer.get(offset, bytes);
    assertThat(bytes).as("contents number %d", number).isEqualTo(bytes(number, length));
  }
}
