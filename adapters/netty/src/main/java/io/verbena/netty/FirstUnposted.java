// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundBuffer.MessageProcessor;
import org.jspecify.annotations.Nullable;

/** Finds the first flushed message of a channel's queue that is not posted as a whole. */
final class FirstUnposted implements MessageProcessor {
  private long skip;
  private @Nullable Object message;

  /**
   * Finds the first message that is not posted as a whole.
   *
   * @param posted bytes of the queue that are posted; if there are none, the queue does not begin
   *     with an empty buffer
   * @return a buffer with unposted bytes, or the first message that is no buffer, or null
   */
  @Nullable Object find(ChannelOutboundBuffer queue, long posted) throws Exception {
    skip = posted;
    if (posted == 0) {
      return queue.current();
    }
    message = null;
    queue.forEachFlushedMessage(this);
    Object found = message;
    message = null;
    return found;
  }

  /** Returns how many bytes of the found buffer are posted. */
  int offset() {
    return (int) skip;
  }

  @Override
  public boolean processMessage(Object candidate) {
    if (candidate instanceof ByteBuf bytes && bytes.readableBytes() <= skip) {
      skip -= bytes.readableBytes();
      return true;
    }
    message = candidate;
    return false;
  }
}
