// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import java.net.InetAddress;

/** Round trips over RDMA channels on loops that also have a TCP connection each. */
public final class NettyBesideSockets implements PingPong {
  private final NettyPingPong pingPong;

  /**
   * @param busy whether each TCP connection echoes a byte all the time; otherwise it is idle
   */
  public NettyBesideSockets(NettyKind kind, int size, boolean busy) throws Exception {
    pingPong = new NettyPingPong(kind, size);
    addSocket(pingPong.pair().client().eventLoop(), busy);
    addSocket(pingPong.pair().server().eventLoop(), busy);
  }

  private static void addSocket(EventLoop loop, boolean busy) throws Exception {
    Echo echo = new Echo();
    Channel server =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .childHandler(echo)
            .bind(InetAddress.getLoopbackAddress(), 0)
            .sync()
            .channel();
    Channel client =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .handler(echo)
            .connect(server.localAddress())
            .sync()
            .channel();
    if (busy) {
      client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])).sync();
    }
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    pingPong.exchange(rounds, ping, pong, deadline);
  }

  @Override
  public void close() {
    pingPong.close();
  }

  @Sharable
  private static final class Echo extends ChannelInboundHandlerAdapter {
    // The void promise passes a failed write to exceptionCaught.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.writeAndFlush(message, context.voidPromise());
    }
  }
}
