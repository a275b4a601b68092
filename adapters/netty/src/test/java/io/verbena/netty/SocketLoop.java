// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.core.testing.Addresses;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** One loop with RDMA channels and sockets. */
final class SocketLoop implements AutoCloseable {
  private static final URI HCA = Addresses.of("netty-sockets");

  /** The kind of sockets. */
  enum Kind {
    NIO(NioSocketChannel.class, NioServerSocketChannel.class, NioDatagramChannel.class),
    EPOLL(EpollSocketChannel.class, EpollServerSocketChannel.class, EpollDatagramChannel.class);

    final Class<? extends Channel> channel;
    final Class<? extends ServerChannel> serverChannel;
    final Class<? extends Channel> datagramChannel;

    Kind(
        Class<? extends Channel> channel,
        Class<? extends ServerChannel> serverChannel,
        Class<? extends Channel> datagramChannel) {
      this.channel = channel;
      this.serverChannel = serverChannel;
      this.datagramChannel = datagramChannel;
    }

    private IoHandlerFactory handlers(PollMode mode) {
      return this == NIO
          ? RdmaIoHandler.newFactory(HCA, options(mode))
          : SocketLoop.handlers(mode, EpollIoHandler.newFactory());
    }
  }

  private final Kind kind;
  private final MultiThreadIoEventLoopGroup group;

  SocketLoop(Kind kind, PollMode mode) {
    this(kind, kind.handlers(mode));
  }

  SocketLoop(Kind kind, IoHandlerFactory handlers) {
    this.kind = kind;
    group = new MultiThreadIoEventLoopGroup(1, handlers);
  }

  static IoHandlerFactory handlers(PollMode mode, IoHandlerFactory sockets) {
    return RdmaIoHandler.newFactory(HCA, options(mode), sockets);
  }

  private static RdmaOptions options(PollMode mode) {
    return Ends.options().pollMode(mode).build();
  }

  EventLoop loop() {
    return group.next();
  }

  Channel bindRdma(ChannelHandler children) {
    return bind(RdmaServerSocketChannel.class, children);
  }

  Channel bindSocket(ChannelHandler children) {
    return bind(kind.serverChannel, children);
  }

  private Channel bind(Class<? extends ServerChannel> type, ChannelHandler children) {
    return Ends.bind(
        new ServerBootstrap()
            .group(group)
            .channel(type)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(children);
                  }
                }));
  }

  Channel connectRdma(Channel server, ChannelHandler handler) {
    return connect(RdmaSocketChannel.class, server, handler);
  }

  Channel connectSocket(Channel server, ChannelHandler handler) {
    return connect(kind.channel, server, handler);
  }

  private Channel connect(Class<? extends Channel> type, Channel server, ChannelHandler handler) {
    return new Bootstrap()
        .group(group)
        .channel(type)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Ends.LIMIT.toMillis())
        .handler(handler)
        .connect(server.localAddress())
        .syncUninterruptibly()
        .channel();
  }

  Channel bindDatagrams(ChannelHandler handler) {
    return new Bootstrap()
        .group(group)
        .channel(kind.datagramChannel)
        .handler(handler)
        .bind(Ends.anyPort())
        .syncUninterruptibly()
        .channel();
  }

  /** Ends the loop without a quiet period. */
  Future<?> end() {
    return group.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    end().syncUninterruptibly();
  }
}
