// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Keeps the messages that arrive. */
@Sharable
final class Keeper extends ChannelInboundHandlerAdapter {
  private final BlockingQueue<ByteBuf> kept = new LinkedBlockingQueue<>();

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    kept.add((ByteBuf) message);
  }

  /** Waits for the next message; the caller releases it. */
  ByteBuf take() throws InterruptedException {
    ByteBuf next = kept.poll(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    if (next == null) {
      throw new AssertionError("nothing came within " + Ends.LIMIT);
    }
    return next;
  }
}
