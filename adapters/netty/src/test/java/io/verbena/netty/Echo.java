// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DatagramPacket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * Sends what arrives back, also to the sender of a datagram, and counts how often. Two of them keep
 * a byte going to and fro.
 */
@Sharable
final class Echo extends ChannelInboundHandlerAdapter {
  final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private volatile CountDownLatch awaited = new CountDownLatch(0);

  /** The latch reaches zero when {@code count} more messages came. */
  CountDownLatch await(int count) {
    CountDownLatch latch = new CountDownLatch(count);
    awaited = latch;
    return latch;
  }

  static void start(Channel from) {
    from.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])).syncUninterruptibly();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    threads.add(Thread.currentThread());
    awaited.countDown();
    Object answer =
        message instanceof DatagramPacket packet
            ? new DatagramPacket(packet.content(), packet.sender())
            : message;
    ChannelFuture unused = context.writeAndFlush(answer);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // Writes of a channel that is being closed: the tests look at what arrives.
    ChannelFuture unused = context.close();
  }
}
