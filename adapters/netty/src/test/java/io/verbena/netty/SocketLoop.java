// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.util.concurrent.Future;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.core.testing.Addresses;
import java.net.SocketAddress;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A loop with RDMA channels and sockets. */
final class SocketLoop implements AutoCloseable {
  private static final URI HCA = Addresses.of("netty-sockets");

  private final SocketFactory sockets;
  private final MultiThreadIoEventLoopGroup group;

  SocketLoop(SocketKind kind, PollMode mode) {
    this(kind, handlers(mode, kind.factory().handlers()));
  }

  SocketLoop(SocketKind kind, IoHandlerFactory handlers) {
    sockets = kind.factory();
    group = new MultiThreadIoEventLoopGroup(1, handlers);
  }

  /**
   * @param sockets creates the handler of the sockets; null for the loop's own NIO handler
   */
  static IoHandlerFactory handlers(PollMode mode, @Nullable IoHandlerFactory sockets) {
    return sockets == null
        ? RdmaIoHandler.newFactory(HCA, options(mode))
        : RdmaIoHandler.newFactory(HCA, options(mode), sockets);
  }

  private static RdmaOptions options(PollMode mode) {
    return Ends.options().pollMode(mode).build();
  }

  EventLoop loop() {
    return group.next();
  }

  Channel bindRdma(ChannelHandler children) {
    return bind(RdmaServerSocketChannel::new, children);
  }

  Channel bindSocket(ChannelHandler children) {
    return bind(sockets.servers(), children);
  }

  private Channel bind(ChannelFactory<? extends ServerChannel> channels, ChannelHandler children) {
    return Ends.bind(
        new ServerBootstrap()
            .group(group)
            .channelFactory(channels)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(children);
                  }
                }));
  }

  Channel connectRdma(Channel server, ChannelHandler handler) {
    return connect(RdmaSocketChannel::new, server.localAddress(), handler);
  }

  Channel connectSocket(Channel server, ChannelHandler handler) {
    return connectSocket(server.localAddress(), handler);
  }

  Channel connectSocket(SocketAddress server, ChannelHandler handler) {
    return connect(sockets.clients(), server, handler);
  }

  private Channel connect(
      ChannelFactory<? extends Channel> channels, SocketAddress server, ChannelHandler handler) {
    return new Bootstrap()
        .group(group)
        .channelFactory(channels)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Ends.LIMIT.toMillis())
        .handler(handler)
        .connect(server)
        .syncUninterruptibly()
        .channel();
  }

  Channel bindDatagrams(ChannelHandler handler) {
    return new Bootstrap()
        .group(group)
        .channelFactory(sockets.datagrams())
        .handler(handler)
        .bind(Ends.anyPort())
        .syncUninterruptibly()
        .channel();
  }

  /** Shuts the loop down without a quiet period. */
  Future<?> end() {
    return group.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    end().syncUninterruptibly();
  }
}
