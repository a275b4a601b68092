// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import io.netty.util.concurrent.Future;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.IdleConnections;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Netty connections as a program has them that sets no options; an event loop for each end. */
public final class NettyIdleConnections implements IdleConnections {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final EventLoopGroup clients;
  private final EventLoopGroup servers;
  private final Channel listener;
  private final Bootstrap connector;
  private final Guest guest;
  private final List<Channel> channels = new ArrayList<>();

  public NettyIdleConnections(NettyKind kind, int size) throws Exception {
    guest = new Guest(size);
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
                    channel.pipeline().addLast(new FixedLengthFrameDecoder(size), guest);
                  }
                });
  }

  @Override
  public void open(int connections, Deadline deadline) throws Exception {
    for (int i = 0; i < connections; i++) {
      Channel channel = connector.connect(listener.localAddress()).sync().channel();
      channels.add(channel);
      echo(channel, deadline);
    }
  }

  @Override
  public void echo(Deadline deadline) throws Exception {
    echo(channels.get(0), deadline);
  }

  private void echo(Channel channel, Deadline deadline) throws Exception {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    channel.eventLoop().execute(() -> guest.greet(channel, answered));
    deadline.await(answered);
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
    for (EventLoopGroup group : List.of(clients, servers)) {
      Future<?> down = group.shutdownGracefully(0, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      if (!down.awaitUninterruptibly(LIMIT.toMillis())) {
        throw new IllegalStateException("event loop: still running after " + LIMIT);
      }
    }
    guest.release();
  }

  /** Says back what it hears. */
  @Sharable
  private static final class Host extends ChannelInboundHandlerAdapter {
    // A write that fails comes to exceptionCaught: that is what the void promise does.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.writeAndFlush(message, context.voidPromise());
    }

    // The guest waits in vain, and says so.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** All clients, on one event loop: one speaks at a time. */
  @Sharable
  private static final class Guest extends ChannelInboundHandlerAdapter {
    private final MessageSource source;
    private final MessageCheck check;
    private final ByteBuf message;
    private final ByteBufView outgoing = new ByteBufView();
    private final ByteBufView incoming = new ByteBufView();
    private CompletableFuture<Void> answered = new CompletableFuture<>();

    private Guest(int size) {
      source = new MessageSource(size);
      check = new MessageCheck(size);
      message = Unpooled.directBuffer(size, size).writerIndex(size);
      source.prepare(outgoing.wrap(message));
    }

    // A write that fails comes to exceptionCaught: that is what the void promise does.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void greet(Channel channel, CompletableFuture<Void> answered) {
      this.answered = answered;
      source.next(outgoing);
      int size = message.readableBytes();
      ByteBuf copy = channel.alloc().directBuffer(size, size).writeBytes(message, 0, size);
      channel.writeAndFlush(copy, channel.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf buffer = (ByteBuf) message;
      try {
        check.accept(incoming.wrap(buffer), buffer.readableBytes());
        check.whole(incoming);
        answered.complete(null);
      } finally {
        buffer.release();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      answered.completeExceptionally(cause);
    }

    /** After all connections were closed. */
    private void release() {
      message.release();
    }
  }
}
