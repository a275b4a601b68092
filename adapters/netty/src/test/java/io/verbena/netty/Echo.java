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
 * Sends each message back to its sender, also of a datagram, and counts the messages. Two of them
 * send a byte back and forth without end.
 */
@Sharable
final class Echo extends ChannelInboundHandlerAdapter {
  final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private volatile CountDownLatch awaited = new CountDownLatch(0);

  /** Returns a latch that reaches zero after {@code count} more messages. */
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
    // A write to a closing channel may fail: the tests check what arrives.
    ChannelFuture unused = context.close();
  }
}
