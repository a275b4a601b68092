// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;

/**
 * Messages of a typical RSocket program: written into a new pooled buffer of an allocator that no
 * transport knows, and checked in the received buffer. For one thread.
 */
final class Payloads {
  private final int size;
  private final ByteBuf message;
  private final ByteBufView outgoing = new ByteBufView();
  private final ByteBufView incoming = new ByteBufView();

  Payloads(int size) {
    this.size = size;
    message = Unpooled.directBuffer(size, size).writerIndex(size);
    new MessageSource(size).prepare(outgoing.wrap(message));
  }

  /** Returns the next message of a source. */
  Payload next(MessageSource source) {
    source.next(outgoing);
    ByteBuf data = PooledByteBufAllocator.DEFAULT.directBuffer(size, size);
    return ByteBufPayload.create(data.writeBytes(message, 0, size));
  }

  /**
   * Checks a message, which the caller keeps. Returns a view that is valid as long as the message.
   */
  ByteBufView accept(Payload payload, MessageCheck check) {
    ByteBuf data = payload.data();
    check.accept(incoming.wrap(data), data.readableBytes());
    return incoming;
  }

  void release() {
    message.release();
  }
}
