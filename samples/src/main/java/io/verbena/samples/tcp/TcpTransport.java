// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.tcp;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Connects and binds over TCP, as {@code io.verbena.RdmaTransport} does over RDMA. Owns its event
 * loops; disposing it closes its servers and connections. Thread-safe.
 */
public final class TcpTransport implements Disposable {
  /** The scheme of its URIs. */
  public static final String SCHEME = "tcp";

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
  private static final int BACKLOG = 128;
  private static final WriteBufferWaterMark WATER_MARK =
      new WriteBufferWaterMark(512 << 10, 1 << 20);

  private final EventLoopGroup loops;

  /** All open channels; channels that are added after the group was closed are closed too. */
  private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

  private final ByteBufAllocator allocator;
  private final int maxMessageLength;

  /**
   * @param loops the number of event loops, one thread each
   * @param allocator of the messages that are received
   * @param maxMessageLength the longest message, in bytes, that is accepted
   */
  public TcpTransport(int loops, ByteBufAllocator allocator, int maxMessageLength) {
    this.loops =
        new MultiThreadIoEventLoopGroup(
            loops, new DefaultThreadFactory("tcp", true), NioIoHandler.newFactory());
    this.allocator = allocator;
    this.maxMessageLength = maxMessageLength;
  }

  /** The allocator of the messages that are received. */
  public ByteBufAllocator allocator() {
    return allocator;
  }

  /**
   * Connects to {@code tcp://host:port}.
   *
   * @return the connection, or the error of the socket
   */
  public Mono<TcpConnection> connect(URI address) {
    return Mono.create(
        sink -> {
          TcpConnection connection = new TcpConnection(address.getAuthority());
          Bootstrap bootstrap =
              new Bootstrap()
                  .group(loops)
                  .channel(NioSocketChannel.class)
                  .handler(initializer(connection));
          configure(bootstrap);
          ChannelFuture connected = bootstrap.connect(address.getHost(), address.getPort());
          connected.addListener(
              done -> {
                if (done.isSuccess()) {
                  sink.success(connection);
                } else {
                  sink.error(done.cause());
                }
              });
          sink.onCancel(() -> close(connected.channel()));
        });
  }

  /**
   * Listens on {@code tcp://host:port}; port 0 takes a free one. Each connection is given to {@code
   * handler} on its event loop, and is closed when the handler's publisher ends.
   *
   * @return the server, or the error of the socket
   */
  public Mono<TcpServer> bind(
      URI address, Function<TcpConnection, ? extends Publisher<Void>> handler) {
    return Mono.create(
        sink -> {
          ServerBootstrap bootstrap =
              new ServerBootstrap()
                  .group(loops)
                  .channel(NioServerSocketChannel.class)
                  .option(ChannelOption.SO_BACKLOG, BACKLOG)
                  .childOption(ChannelOption.TCP_NODELAY, true)
                  .childOption(ChannelOption.AUTO_READ, false)
                  .childOption(ChannelOption.ALLOCATOR, allocator)
                  .childOption(ChannelOption.RECVBUF_ALLOCATOR, receiveBuffers())
                  .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                  .childHandler(accepting(handler));
          ChannelFuture bound = bootstrap.bind(address.getHost(), address.getPort());
          bound.addListener(
              done -> {
                if (done.isSuccess()) {
                  channels.add(bound.channel());
                  int port = ((InetSocketAddress) bound.channel().localAddress()).getPort();
                  URI actual = URI.create(SCHEME + "://" + address.getHost() + ':' + port);
                  sink.success(new TcpServer(bound.channel(), actual));
                } else {
                  sink.error(done.cause());
                }
              });
          sink.onCancel(() -> close(bound.channel()));
        });
  }

  /** Closes every socket, then ends the threads; idempotent. */
  @Override
  public void dispose() {
    channels.close().awaitUninterruptibly(CLOSE_TIMEOUT.toMillis());
    loops
        .shutdownGracefully(0, CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(2 * CLOSE_TIMEOUT.toMillis());
  }

  private void configure(Bootstrap bootstrap) {
    bootstrap
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.AUTO_READ, false)
        .option(ChannelOption.ALLOCATOR, allocator)
        .option(ChannelOption.RECVBUF_ALLOCATOR, receiveBuffers())
        .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK);
  }

  /** Small for requests; grows until a read rarely splits a message of 64 KiB. */
  private static AdaptiveRecvByteBufAllocator receiveBuffers() {
    return new AdaptiveRecvByteBufAllocator(2 << 10, 64 << 10, 512 << 10);
  }

  private ChannelInitializer<Channel> initializer(TcpConnection connection) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        channels.add(channel);
        channel.pipeline().addLast(new TcpMessageDecoder(maxMessageLength), connection);
      }
    };
  }

  private ChannelInitializer<Channel> accepting(
      Function<TcpConnection, ? extends Publisher<Void>> handler) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        TcpConnection connection = new TcpConnection(String.valueOf(channel.remoteAddress()));
        channels.add(channel);
        channel.pipeline().addLast(new TcpMessageDecoder(maxMessageLength), connection);
        channel
            .eventLoop()
            .execute(
                () ->
                    Mono.from(handler.apply(connection))
                        .subscribe(ended -> {}, failure -> close(channel), () -> close(channel)));
      }
    };
  }

  @SuppressWarnings("FutureReturnValueIgnored") // a socket that fails to close is closed
  static void close(Channel channel) {
    channel.close();
  }
}
