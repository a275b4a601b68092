// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import io.verbena.RdmaException;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.memory.RegisteredMemory;
import java.io.IOException;

/**
 * Posts the messages that channels have flushed. A copied message leaves the channel's queue at
 * once. A message that the HCA reads in place stays in the queue until it is sent, and so do the
 * messages behind it. One for each loop; on its thread only.
 */
final class Flusher {
  /**
   * The most rounds of a flush; then the loop's other channels have their turn, as with a socket.
   */
  private static final int MOST_ROUNDS = 16;

  private final CompletionQueues<?> completions;
  private final FirstUnposted unposted = new FirstUnposted();
  private final MessageGatherer gatherer;

  Flusher(RegisteredMemory memory, CompletionQueues<?> completions) {
    this.completions = completions;
    gatherer = new MessageGatherer(memory);
  }

  /**
   * Posts as much as the peer and the send queue take now. The stream calls its owner when they
   * take more, and when bytes were sent.
   *
   * @throws IOException if the connection is broken
   * @throws Exception if a message throws as it is read
   */
  void flush(ChannelOutboundBuffer queue, Stream to) throws Exception {
    // Completions may show that the peer is gone, that bytes were sent, and new credits.
    completions.poll();
    PostedBytes posted = to.posted();
    int rounds = 0;
    do {
      posted.removeSent(queue);
      try {
        postAll(queue, to);
      } finally {
        to.writes().postLinked();
      }
      if (posted.count() > 0) {
        completions.poll();
      }
    } while (posted.hasSent() && ++rounds < MOST_ROUNDS);
    if (posted.hasSent()) {
      to.schedule();
    }
  }

  private void postAll(ChannelOutboundBuffer queue, Stream to) throws Exception {
    PostedBytes posted = to.posted();
    boolean more = true;
    while (more) {
      if (posted.count() == 0) {
        removeEmpty(queue);
      }
      Object message = unposted.find(queue, posted.count());
      IOException broken = to.failure();
      if (broken != null && (message != null || posted.count() > 0)) {
        if (to.readsFirst()) {
          return;
        }
        throw broken;
      }
      more = message != null && to.canSend() && postNext(queue, message, to);
    }
  }

  /** Removes empty buffers from the head of the queue. */
  private static void removeEmpty(ChannelOutboundBuffer queue) {
    while (queue.current() instanceof ByteBuf head && !head.isReadable()) {
      queue.remove();
    }
  }

  /**
   * Posts the next message. Returns false if it has to wait for messages in flight: for their
   * registered memory, or because a file has to be the first in the queue.
   */
  private boolean postNext(ChannelOutboundBuffer queue, Object message, Stream to)
      throws Exception {
    try {
      if (message instanceof ByteBuf bytes) {
        post(queue, bytes, to);
      } else if (message instanceof FileRegion file) {
        if (to.posted().count() > 0) {
          // A file counts its own progress, and so has to be the first in the queue.
          return false;
        }
        post(queue, file, to);
      }
      return true;
    } catch (RdmaException e) {
      if (to.awaitMemory()) {
        return false;
      }
      throw new IOException("no registered memory to send from", e);
    }
  }

  /** Posts before it completes a promise, whose listener may close the channel. */
  private void post(ChannelOutboundBuffer queue, ByteBuf bytes, Stream to) throws Exception {
    PostedBytes posted = to.posted();
    int offset = unposted.offset();
    int inPlace =
        to.writes()
            .sendInPlace(bytes, bytes.readerIndex() + offset, bytes.readableBytes() - offset);
    if (inPlace > 0) {
      posted.posted(inPlace);
      return;
    }
    ByteBuf gathered = gatherer.gather(queue, posted.count(), to.writes().piece());
    int length = gathered.readableBytes();
    boolean stays = posted.count() > 0;
    send(gathered, to, stays ? length : 0);
    if (stays) {
      posted.posted(length);
    } else {
      // Counted before messages are removed: a listener of the first may close the channel.
      posted.posted(length);
      posted.sent(length);
      posted.removeSent(queue);
    }
  }

  private void post(ChannelOutboundBuffer queue, FileRegion file, Stream to) throws IOException {
    if (file.transferred() < file.count()) {
      ByteBuf gathered = gatherer.gather(file, to.writes().piece());
      int sent = gathered.readableBytes();
      if (sent == 0) {
        throw new IOException(
            "file region: "
                + file.transferred()
                + " bytes (expected: "
                + file.count()
                + "): the file is shorter");
      }
      send(gathered, to, 0);
      queue.progress(sent);
    }
    if (file.transferred() >= file.count()) {
      queue.remove();
    }
  }

  private void send(ByteBuf gathered, Stream to, int queued) {
    if (to.writes().sendGathered(gathered, queued)) {
      gatherer.handedOver();
    }
  }

  /** Releases the memory. Idempotent. */
  void release() {
    gatherer.release();
  }
}
