// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import io.netty.util.concurrent.Future;
import io.verbena.benchmarks.work.Deadline;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A Netty connection within this JVM, an event loop for each end. */
public final class NettyPair implements AutoCloseable {
  static final Duration LIMIT = Duration.ofSeconds(10);

  private final EventLoopGroup clients;
  private final EventLoopGroup servers;
  private final Channel listener;
  private final Channel client;
  private final Channel server;

  NettyPair(NettyKind kind, int size, ChannelHandler clientHandler, ChannelHandler serverHandler)
      throws Exception {
    clients = new MultiThreadIoEventLoopGroup(1, kind.handler());
    servers = new MultiThreadIoEventLoopGroup(1, kind.handler());
    CompletableFuture<Channel> accepted = new CompletableFuture<>();
    ServerBootstrap acceptor =
        kind.acceptor(servers, size).childHandler(new End(size, serverHandler, accepted));
    Bootstrap connector =
        kind.connector(clients, size)
            .handler(new End(size, clientHandler, new CompletableFuture<>()));
    listener = acceptor.bind(kind.address()).sync().channel();
    client = connector.connect(listener.localAddress()).sync().channel();
    server = Deadline.in(LIMIT).await(accepted);
  }

  Channel client() {
    return client;
  }

  Channel server() {
    return server;
  }

  @Override
  public void close() {
    client.close().awaitUninterruptibly(LIMIT.toMillis());
    listener.close().awaitUninterruptibly(LIMIT.toMillis());
    shutDown(clients);
    shutDown(servers);
  }

  /** Ends the loops of a group; waits until their threads have ended. */
  public static void shutDown(EventLoopGroup group) {
    Future<?> down = group.shutdownGracefully(0, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    if (!down.awaitUninterruptibly(LIMIT.toMillis())) {
      throw new IllegalStateException("event loop: still running after " + LIMIT);
    }
  }

  private static final class End extends ChannelInitializer<Channel> {
    private final int size;
    private final ChannelHandler handler;
    private final CompletableFuture<Channel> ready;

    private End(int size, ChannelHandler handler, CompletableFuture<Channel> ready) {
      this.size = size;
      this.handler = handler;
      this.ready = ready;
    }

    @Override
    protected void initChannel(Channel channel) {
      channel.pipeline().addLast(new FixedLengthFrameDecoder(size), handler);
      ready.complete(channel);
    }
  }
}
