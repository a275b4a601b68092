// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.MessageSource;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Buffers of outgoing messages. Small messages are written in one buffer and copied into a new
 * registered buffer. Large messages are written in place in registered buffers, each of which is
 * reused after the transport has released it. For one thread.
 */
final class MessageBuffers {
  private static final int IN_PLACE = 4 << 10;

  private final int size;
  private final ByteBufAllocator allocator;
  private final MessageSource preparing;
  private final ByteBufView view = new ByteBufView();
  private final ByteBuf small;
  private final Deque<ByteBuf> ring = new ArrayDeque<>();

  MessageBuffers(int size, ByteBufAllocator allocator) {
    this.size = size;
    this.allocator = allocator;
    this.preparing = new MessageSource(size);
    this.small = Unpooled.directBuffer(size, size).writerIndex(size);
    preparing.prepare(view.wrap(small));
  }

  /** Writes the content of a message. */
  interface Writer {
    void write(ByteBufView message);
  }

  /** Returns a message that {@code writer} has written. The caller owns it. */
  ByteBuf write(Writer writer) {
    if (size < IN_PLACE) {
      writer.write(view.wrap(small));
      return allocator.directBuffer(size, size).writeBytes(small, 0, size);
    }
    // The transport releases buffers in the order of sending: if the oldest is in use, all are.
    ByteBuf oldest = ring.peekFirst();
    ByteBuf free = oldest != null && oldest.refCnt() == 1 ? ring.removeFirst() : prepared();
    free.setIndex(0, size);
    writer.write(view.wrap(free));
    ring.addLast(free);
    return free.retain();
  }

  private ByteBuf prepared() {
    ByteBuf buffer = allocator.directBuffer(size, size).writerIndex(size);
    preparing.prepare(view.wrap(buffer));
    return buffer;
  }

  void release() {
    small.release();
    for (ByteBuf buffer : ring) {
      buffer.release();
    }
  }
}
