// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import io.netty.util.concurrent.Future;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.IdleConnections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Netty connections with default options and an event loop for each end, which sleeps when it is
 * idle ({@code PollMode.EVENT} over RDMA, where the default is adaptive).
 */
public final class NettyIdleConnections implements IdleConnections {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final EventLoopGroup clients;
  private final EventLoopGroup servers;
  private final Channel listener;
  private final Bootstrap connector;
  private final List<Channel> channels = new ArrayList<>();

  public NettyIdleConnections(NettyKind kind, int size) throws Exception {
    clients = new MultiThreadIoEventLoopGroup(1, kind.plainHandler());
    servers = new MultiThreadIoEventLoopGroup(1, kind.plainHandler());
    listener =
        new ServerBootstrap()
            .group(servers)
            .channel(kind.serverChannel())
            .childHandler(new Host())
            .bind(kind.address())
            .sync()
            .channel();
    connector =
        new Bootstrap()
            .group(clients)
            .channel(kind.channel())
            .handler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new FixedLengthFrameDecoder(size), new Guest(size));
                  }
                });
  }

  @Override
  public void open(int connections, Deadline deadline) throws Exception {
    for (int i = 0; i < connections; i++) {
      Channel channel = connector.connect(listener.localAddress()).sync().channel();
      channels.add(channel);
      deadline.await(echo(channel, 1));
    }
  }

  @Override
  public CompletionStage<Void> echo(int connection, long messages) {
    return echo(channels.get(connection), messages);
  }

  private static CompletionStage<Void> echo(Channel channel, long messages) {
    CompletableFuture<Void> echoed = new CompletableFuture<>();
    Guest guest = channel.pipeline().get(Guest.class);
    channel.eventLoop().execute(() -> guest.greet(channel, messages, echoed));
    return echoed;
  }

  @Override
  public void shut(Deadline deadline) throws Exception {
    for (Future<?> each : closeAll()) {
      if (!each.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
        throw new TimeoutException("connections: not closed in time");
      }
    }
  }

  private List<Future<?>> closeAll() {
    List<Future<?>> closing = new ArrayList<>();
    channels.forEach(channel -> closing.add(channel.close()));
    channels.clear();
    return closing;
  }

  @Override
  public void close() {
    closeAll().forEach(each -> each.awaitUninterruptibly(LIMIT.toMillis()));
    listener.close().awaitUninterruptibly(LIMIT.toMillis());
    NettyPair.shutDown(clients);
    NettyPair.shutDown(servers);
  }

  /** Sends back what it receives. */
  @Sharable
  private static final class Host extends ChannelInboundHandlerAdapter {
    // The void promise passes a failed write to exceptionCaught.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.writeAndFlush(message, context.voidPromise());
    }

    // The client reports the failure: its wait times out.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** Sends as long as the channel is writable, and counts the echoed messages. */
  private static final class Guest extends ChannelInboundHandlerAdapter {
    private final int size;
    private long unsent;
    private long left;
    private CompletableFuture<Void> echoed = new CompletableFuture<>();

    private Guest(int size) {
      this.size = size;
    }

    private void greet(Channel channel, long messages, CompletableFuture<Void> echoed) {
      this.echoed = echoed;
      unsent = messages;
      left = messages;
      send(channel);
    }

    // The void promise passes a failed write to exceptionCaught.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void send(Channel channel) {
      if (unsent == 0) {
        return;
      }
      while (unsent > 0 && channel.isWritable()) {
        unsent--;
        ByteBuf message = channel.alloc().directBuffer(size, size).writeZero(size);
        channel.write(message, channel.voidPromise());
      }
      channel.flush();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      send(context.channel());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf buffer = (ByteBuf) message;
      int length = buffer.readableBytes();
      buffer.release();
      if (length != size) {
        exceptionCaught(
            context,
            new IllegalStateException("answer: " + length + " bytes (expected: " + size + ")"));
      } else if (--left == 0) {
        echoed.complete(null);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      echoed.completeExceptionally(cause);
    }
  }
}
