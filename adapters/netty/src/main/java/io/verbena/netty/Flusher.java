// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import io.verbena.RdmaException;
import io.verbena.core.memory.RegisteredMemory;
import java.io.IOException;

/** Posts the messages that channels have flushed. One for a loop; on its thread only. */
final class Flusher {
  private final Gatherer gatherer;

  Flusher(RegisteredMemory memory) {
    gatherer = new Gatherer(memory);
  }

  /**
   * Posts as much as the peer and the send queue take now; the stream calls when they take more.
   *
   * @throws IOException if the connection is broken
   * @throws Exception what a message throws as it is read
   */
  void flush(ChannelOutboundBuffer queue, Stream to) throws Exception {
    for (Object message = queue.current(); message != null; message = queue.current()) {
      IOException broken = to.failure();
      if (broken != null) {
        throw broken;
      }
      if (message instanceof ByteBuf bytes && !bytes.isReadable()) {
        queue.remove();
      } else if (!to.canSend() || !postNext(queue, message, to)) {
        return;
      }
    }
  }

  /** Whether it could; at the limit of registered memory it waits for what is in flight. */
  private boolean postNext(ChannelOutboundBuffer queue, Object message, Stream to)
      throws Exception {
    try {
      if (message instanceof ByteBuf bytes) {
        post(queue, bytes, to);
      } else if (message instanceof FileRegion file) {
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

  /** Posts first: what hears of the promise may close the channel. */
  private void post(ChannelOutboundBuffer queue, ByteBuf bytes, Stream to) throws Exception {
    int sent = to.sendInPlace(bytes);
    if (sent == 0) {
      ByteBuf gathered = gatherer.gather(queue, to.piece());
      sent = gathered.readableBytes();
      send(gathered, to);
    }
    queue.removeBytes(sent);
  }

  private void post(ChannelOutboundBuffer queue, FileRegion file, Stream to) throws IOException {
    if (file.transferred() < file.count()) {
      ByteBuf gathered = gatherer.gather(file, to.piece());
      int sent = gathered.readableBytes();
      if (sent == 0) {
        throw new IOException(
            "file region: "
                + file.transferred()
                + " bytes (expected: "
                + file.count()
                + "): the file is shorter");
      }
      send(gathered, to);
      queue.progress(sent);
    }
    if (file.transferred() >= file.count()) {
      queue.remove();
    }
  }

  private void send(ByteBuf gathered, Stream to) {
    if (to.sendGathered(gathered)) {
      gatherer.handedOver();
    }
  }

  /** Releases the memory. Idempotent. */
  void release() {
    gatherer.release();
  }
}
