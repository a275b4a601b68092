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
   * Removes what was sent from the queue. Message by message, as a listener of a write may end the
   * channel's output, and empty its queue so.
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
   * Tells the progress of a message that was sent as a whole, and removes it. Its bytes count as
   * posted until then: it is in the queue still as a listener of its progress ends the output,
   * which sends what does not count.
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

  /** Removes all that was posted from the queue, whose channel ends: it still arrives. */
  void removeAll(ChannelOutboundBuffer queue) {
    sent = posted;
    removeSent(queue);
  }
}
