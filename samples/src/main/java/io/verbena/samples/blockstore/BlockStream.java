// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A stream that the server has announced.
 *
 * @param number the server's number for it
 * @param messages how many messages come
 * @param length their bytes, together
 * @param content the messages, which belong to the subscriber
 */
record BlockStream(int number, int messages, long length, Flux<ByteBuf> content) {

  /**
   * Copies one message after the other.
   *
   * @param into gets the bytes at its writer index; it stays the caller's, and needs {@link
   *     #length} writable bytes
   * @return errors with {@link ProtocolException} if the stream ends too soon
   */
  Mono<Void> copyInto(ByteBuf into) {
    int start = into.writerIndex();
    return content
        .doOnNext(message -> append(message, into))
        .then(Mono.fromRunnable(() -> checkLength(into.writerIndex() - start)));
  }

  /** Copies a message and releases it. */
  static void append(ByteBuf message, ByteBuf into) {
    try {
      into.writeBytes(message);
    } finally {
      message.release();
    }
  }

  private void checkLength(long received) {
    if (received != length) {
      throw new ProtocolException(
          "bytes in the stream: " + received + " (expected: " + length + ")");
    }
  }
}
