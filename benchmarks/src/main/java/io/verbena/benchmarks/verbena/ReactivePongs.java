// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Pong;
import java.util.concurrent.CompletableFuture;

/** The end of a connection that answers each message with one of its own, from now on. */
final class ReactivePongs {
  private final MessageBuffers pongs;
  private final ByteBufView received = new ByteBufView();
  private final MessageBuffers.Writer write = this::write;
  private final CompletableFuture<Void> ended;
  private Pong pong;

  ReactivePongs(RdmaConnection server, int size) {
    pong = new Pong(size);
    pongs = new MessageBuffers(size, server.memory().allocator());
    ended = server.send(server.receive().map(this::reply)).toFuture();
  }

  /** Sets the pong that answers from now on. Must not be called while messages are in flight. */
  void answerBy(Pong other) {
    pong = other;
  }

  /** Returns a future that completes when the connection ends. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  private ByteBuf reply(ByteBuf message) {
    try {
      pong.receive(received.wrap(message), message.readableBytes());
    } finally {
      message.release();
    }
    return pongs.write(write);
  }

  private void write(ByteBufView message) {
    pong.send(message);
  }

  void release() {
    pongs.release();
  }
}
