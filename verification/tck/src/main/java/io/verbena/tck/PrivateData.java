// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;

/** The private data of connect, accept and reject. */
final class PrivateData {
  private PrivateData() {}

  static ByteBuffer none() {
    return ByteBuffer.allocate(0);
  }

  static ByteBuffer of(int length, int seed) {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    for (int i = 0; i < length; i++) {
      bytes.put(i, TestMemory.pattern(seed, i));
    }
    return bytes;
  }

  /**
   * Asserts that received private data begins with the sent data. It may be padded, because
   * messages of connection managers have fixed lengths.
   */
  static void assertBegins(ByteBuffer received, int length, int seed) {
    assertThat(received.remaining()).isGreaterThanOrEqualTo(length);
    byte[] begin = new byte[length];
    byte[] padding = new byte[received.remaining() - length];
    received.duplicate().get(begin).get(padding);
    assertThat(begin).isEqualTo(of(length, seed).array());
    assertThat(padding).isEqualTo(new byte[padding.length]);
  }
}
