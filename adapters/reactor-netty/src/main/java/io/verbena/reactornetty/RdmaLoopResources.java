// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.verbena.netty.AutoIoHandler;
import io.verbena.netty.AutoServerSocketChannel;
import io.verbena.netty.AutoSocketChannel;
import io.verbena.netty.RdmaIoHandler;
import io.verbena.netty.RdmaServerSocketChannel;
import io.verbena.netty.RdmaSocketChannel;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/**
 * Event loops on an HCA, for Reactor Netty's TCP and HTTP clients and servers.
 *
 * <pre>{@code
 * LoopResources rdma = RdmaLoopResources.create(URI.create("emulated://http"));
 * HttpServer.create().runOn(rdma).port(8080)...
 * HttpClient.create().runOn(rdma).port(8080)...
 * }</pre>
 *
 * <p>Datagrams do not travel over RDMA: datagram channels, as Netty's DNS client has them, which
 * Reactor Netty looks names up with, are UDP sockets of NIO on the same loops. DNS over TCP would
 * be asked over RDMA: an answer that does not fit into a datagram is used as far as it goes. Those
 * of {@link #auto} ask over TCP, as a DNS server has no RDMA.
 */
public final class RdmaLoopResources implements LoopResources {
  private final EventLoopGroup servers;
  private final EventLoopGroup clients;
  private final boolean daemon;
  private final Class<? extends SocketChannel> channel;
  private final Class<? extends ServerSocketChannel> serverChannel;

  private RdmaLoopResources(
      EventLoopGroup loops,
      boolean daemon,
      Class<? extends SocketChannel> channel,
      Class<? extends ServerSocketChannel> serverChannel) {
    servers = loops;
    clients = LoopResources.colocate(loops);
    this.daemon = daemon;
    this.channel = channel;
    this.serverChannel = serverChannel;
  }

  /**
   * As many daemon loops as Reactor Netty has by default.
   *
   * @param hca as {@link RdmaIoHandler#newFactory(URI)} takes it
   */
  public static RdmaLoopResources create(URI hca) {
    requireNonNull(hca, "hca");
    return create("rdma", DEFAULT_IO_WORKER_COUNT, true, RdmaIoHandler.newFactory(hca));
  }

  /**
   * Event loops of which all is chosen.
   *
   * @param prefix what the names of their threads begin with
   * @param count how many; at least 1
   * @param handlers from {@link RdmaIoHandler}, with sockets of NIO
   */
  public static RdmaLoopResources create(
      String prefix, int count, boolean daemon, IoHandlerFactory handlers) {
    return new RdmaLoopResources(
        group(prefix, count, daemon, handlers),
        daemon,
        RdmaSocketChannel.class,
        RdmaServerSocketChannel.class);
  }

  /**
   * As many daemon loops as Reactor Netty has by default, whose connections are over RDMA where the
   * peer has it, and else over TCP, and whose servers listen for both at one port. RSocket's
   * transports over TCP run on them too.
   *
   * @param hca as {@link RdmaIoHandler#newFactory(URI)} takes it; without such an HCA on this host
   *     all is over TCP
   */
  public static RdmaLoopResources auto(URI hca) {
    requireNonNull(hca, "hca");
    return auto("auto", DEFAULT_IO_WORKER_COUNT, true, AutoIoHandler.newFactory(hca));
  }

  /**
   * As above; all of the loops is chosen.
   *
   * @param prefix what the names of their threads begin with
   * @param count how many; at least 1
   * @param handlers from {@link AutoIoHandler}, with sockets of NIO
   */
  public static RdmaLoopResources auto(
      String prefix, int count, boolean daemon, IoHandlerFactory handlers) {
    return new RdmaLoopResources(
        group(prefix, count, daemon, handlers),
        daemon,
        AutoSocketChannel.class,
        AutoServerSocketChannel.class);
  }

  private static EventLoopGroup group(
      String prefix, int count, boolean daemon, IoHandlerFactory handlers) {
    requireNonNull(prefix, "prefix");
    requireNonNull(handlers, "handlers");
    if (count < 1) {
      throw new IllegalArgumentException("count: " + count + " (expected: >= 1)");
    }
    return new MultiThreadIoEventLoopGroup(count, new LoopThreads(prefix, daemon), handlers);
  }

  /** A client that connects from within a loop stays on it. */
  @Override
  public EventLoopGroup onClient(boolean useNative) {
    return clients;
  }

  @Override
  public EventLoopGroup onServer(boolean useNative) {
    return servers;
  }

  /**
   * @throws IllegalArgumentException if it is not a stream's channel, nor one of datagrams
   * @throws IllegalStateException if it is one of datagrams, and these loops are disposed of
   */
  @Override
  public <CHANNEL extends Channel> CHANNEL onChannel(
      Class<CHANNEL> channelType, EventLoopGroup group) {
    if (channelType == DatagramChannel.class) {
      if (isDisposed()) {
        throw new IllegalStateException("the loops are disposed of");
      }
      return channelType.cast(new NioDatagramChannel());
    }
    return channelType.cast(new ReflectiveChannelFactory<>(channelOf(channelType)).newChannel());
  }

  /**
   * @throws IllegalArgumentException if it is not a stream's channel
   */
  @Override
  public <CHANNEL extends Channel> Class<? extends CHANNEL> onChannelClass(
      Class<CHANNEL> channelType, EventLoopGroup group) {
    return channelOf(channelType).asSubclass(channelType);
  }

  private Class<? extends Channel> channelOf(Class<?> type) {
    if (type == SocketChannel.class) {
      return channel;
    }
    if (type == ServerSocketChannel.class) {
      return serverChannel;
    }
    throw new IllegalArgumentException(
        "channelType: " + type.getName() + " (expected: SocketChannel or ServerSocketChannel)");
  }

  @Override
  public boolean daemon() {
    return daemon;
  }

  @Override
  public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
    return Mono.create(
        sink ->
            servers
                .shutdownGracefully(
                    quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS)
                .addListener(
                    done -> {
                      if (done.isSuccess()) {
                        sink.success();
                      } else {
                        sink.error(done.cause());
                      }
                    }));
  }

  @Override
  public boolean isDisposed() {
    return servers.isShuttingDown();
  }
}
