// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.MessageSource;
import java.util.concurrent.CompletableFuture;

/**
 * One end of a Netty connection: delivers each received message, and sends copies of a message that
 * the workload writes. Used on its event loop.
 */
abstract class NettyEnd extends ChannelInboundHandlerAdapter {
  final ByteBufView outgoing = new ByteBufView();
  private final ByteBufView incoming = new ByteBufView();
  private final ByteBuf message;
  private CompletableFuture<Void> done = new CompletableFuture<>();

  NettyEnd(int size) {
    message = Unpooled.directBuffer(size, size).writerIndex(size);
    new MessageSource(size).prepare(outgoing.wrap(message));
  }

  /** Starts an exchange; every failure from now on fails {@code done}. */
  final void begin(CompletableFuture<Void> done) {
    this.done = done;
  }

  /** Writes a copy of the outgoing message, without a flush. */
  // The void promise passes a failed write to exceptionCaught.
  @SuppressWarnings("FutureReturnValueIgnored")
  final void write(Channel channel) {
    int size = message.readableBytes();
    ByteBuf copy = channel.alloc().directBuffer(size, size).writeBytes(message, 0, size);
    channel.write(copy, channel.voidPromise());
  }

  final void finish() {
    done.complete(null);
  }

  /** Handles a message, which is valid until this method returns. */
  abstract void accept(Channel channel, ByteBufView message, int length);

  @Override
  public final void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf buffer = (ByteBuf) message;
    try {
      accept(context.channel(), incoming.wrap(buffer), buffer.readableBytes());
    } finally {
      buffer.release();
    }
  }

  @Override
  public final void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    done.completeExceptionally(cause);
  }

  /** Releases the buffers. Called after the connection was closed. */
  final void release() {
    message.release();
  }
}
