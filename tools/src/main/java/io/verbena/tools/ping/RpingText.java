// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.ping;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The data of rping's pings: {@code "rdma-ping-7: "}, then the ASCII characters from A to z,
 * starting one character later in each ping, and a NUL.
 */
final class RpingText {
  private static final int FIRST = 'A';
  private static final int LETTERS = 'z' - 'A' + 1;

  private RpingText() {}

  /** Returns the data of a ping. */
  static byte[] of(int ping, int size) {
    byte[] text = new byte[size];
    byte[] head = ("rdma-ping-" + ping + ": ").getBytes(StandardCharsets.US_ASCII);
    int length = Math.min(head.length, size);
    System.arraycopy(head, 0, text, 0, length);
    for (int i = length; i < size - 1; i++) {
      text[i] = (byte) (FIRST + (ping % LETTERS + i - length) % LETTERS);
    }
    return text;
  }

  /** Returns the text that {@code printf("%s")} prints of data. */
  static String shown(ByteBuffer memory, int offset, int size) {
    int length = 0;
    while (length < size && memory.get(offset + length) != 0) {
      length++;
    }
    byte[] bytes = new byte[length];
    memory.get(offset, bytes);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
