// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * Counts the bytes at the head of a channel's queue that are posted and stay there until they are
 * sent, because the HCA reads them where they are: only then do their writes succeed. On the event
 * loop's thread only.
 */
final class PostedBytes {
  private long posted;
  private long sent;

  /** Returns how many of the queue's bytes are posted. */
  long count() {
    return posted;
  }

  /** Adds bytes that were posted behind those that are. */
  void posted(int bytes) {
    posted += bytes;
  }

  /** The first of the bytes were sent. */
  void sent(int bytes) {
    sent += bytes;
  }

  /** Returns whether {@link #removeSent} has something to remove. */
  boolean hasSent() {
    return sent > 0;
  }

  /**
   * Removes what was sent from the queue. Message by message, as a listener of a write may close
   * the channel, and empty its queue so.
   */
  void removeSent(ChannelOutboundBuffer queue) {
    while (sent > 0 && queue.current() instanceof ByteBuf head) {
      int count = (int) Math.min(sent, head.readableBytes());
      sent -= count;
      posted -= count;
      queue.removeBytes(count);
    }
  }

  /** Removes all that was posted from the queue, whose channel ends: it still arrives. */
  void removeAll(ChannelOutboundBuffer queue) {
    sent = posted;
    removeSent(queue);
  }
}
