// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The flushed bytes for which the peer had no receive when the channel's output ended. The stream
 * keeps a copy of them, as a kernel does in a socket's send buffer, and sends it as the peer reads.
 */
final class UnsentTail implements ChannelOutboundBuffer.MessageProcessor {
  /** The most bytes that are kept; a write that does not fit fails, and so do those after it. */
  static final int MOST = 1 << 20;

  private long skip;
  private int length;
  private @Nullable ByteBuf bytes;

  private UnsentTail(long skip) {
    this.skip = skip;
  }

  /**
   * Copies the messages of a channel's queue that are not posted, up to the first that is no buffer
   * or does not fit, and counts their bytes as posted.
   *
   * @return the bytes, which are the caller's; null if there are none
   */
  static @Nullable ByteBuf copy(ChannelOutboundBuffer queue, PostedBytes posted) throws Exception {
    UnsentTail tail = new UnsentTail(posted.count());
    boolean copied = false;
    try {
      queue.forEachFlushedMessage(tail);
      copied = true;
    } finally {
      if (!copied) {
        // A buffer in the queue cannot be read: its writer has released it.
        tail.release();
      }
    }
    posted.posted(tail.length);
    return tail.bytes;
  }

  private void release() {
    ByteBuf begun = bytes;
    if (begun != null) {
      begun.release();
    }
  }

  @Override
  public boolean processMessage(Object message) {
    if (!(message instanceof ByteBuf from)) {
      return false;
    }
    int left = from.readableBytes();
    if (left <= skip) {
      skip -= left;
      return true;
    }
    int offset = (int) skip;
    skip = 0;
    if (left - offset > MOST - length) {
      return false;
    }
    ByteBuf into = bytes;
    if (into == null) {
      into = ByteBufAllocator.DEFAULT.heapBuffer(left - offset, MOST);
      bytes = into;
    }
    into.writeBytes(from, from.readerIndex() + offset, left - offset);
    length += left - offset;
    return true;
  }
}
