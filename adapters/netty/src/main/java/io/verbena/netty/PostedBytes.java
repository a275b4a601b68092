// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * Counts the bytes at the head of a channel's queue that are posted. They stay in the queue until
 * they are sent, because the HCA reads them in place; then their writes succeed. On the event
 * loop's thread only.
 */
final class PostedBytes {
  private long posted;
  private long sent;

  /** Returns how many of the queue's bytes are posted. */
  long count() {
    return posted;
  }

  /** Adds bytes that were posted. */
  void posted(int bytes) {
    posted += bytes;
  }

  /** Notes that the first of the posted bytes were sent. */
  void sent(int bytes) {
    sent += bytes;
  }

  /** Returns whether {@link #removeSent} has something to remove. */
  boolean hasSent() {
    return sent > 0;
  }

  /**
   * Removes sent bytes from the queue, message by message: a listener of a write may end the
   * channel's output, which empties the queue.
   */
  void removeSent(ChannelOutboundBuffer queue) {
    while (queue.current() instanceof ByteBuf head && (sent > 0 || !head.isReadable())) {
      int length = head.readableBytes();
      if (length <= sent) {
        removeHead(queue, head, length);
      } else {
        int count = (int) sent;
        sent = 0;
        posted -= count;
        queue.removeBytes(count);
      }
    }
  }

  /**
   * Reports the progress of a message that was sent as a whole, and removes it. Its bytes count as
   * posted until it is removed: a listener of its progress may end the output, which sends the
   * bytes in the queue that do not count as posted.
   */
  private void removeHead(ChannelOutboundBuffer queue, ByteBuf head, int length) {
    if (length > 0) {
      queue.progress(length);
    }
    if (queue.current() == head) {
      sent -= length;
      posted -= length;
      queue.remove();
    }
  }

  /** Removes all posted bytes from the queue of a channel that ends: they still arrive. */
  void removeAll(ChannelOutboundBuffer queue) {
    sent = posted;
    removeSent(queue);
  }
}
