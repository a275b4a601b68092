// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.verbena.netty.RdmaSockets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/**
 * Event loops on an HCA, for Reactor Netty's TCP and HTTP clients and servers, and for RSocket's
 * transports on them.
 *
 * <pre>{@code
 * RdmaSockets sockets = RdmaSockets.create(URI.create("emulated://http"));
 * LoopResources rdma = RdmaLoopResources.create(sockets);
 * HttpServer.create().runOn(rdma).port(8080)...
 * HttpClient.create().runOn(rdma).port(8080)...
 * }</pre>
 *
 * <p>Datagrams do not travel over RDMA: datagram channels, as Netty's DNS client has them, which
 * Reactor Netty looks names up with, are UDP sockets on the same loops, of NIO or of the kind that
 * {@link RdmaSockets.Builder#sockets} chose. DNS over TCP would be asked over RDMA: an answer that
 * does not fit into a datagram is used as far as it goes. With {@link RdmaSockets.Builder#orTcp}
 * TCP is asked, as a DNS server has no RDMA.
 *
 * <p>Reactor refuses to block on these loops.
 */
public final class RdmaLoopResources implements LoopResources {
  static {
    Schedulers.registerNonBlockingThreadPredicate(RdmaSockets::isLoop);
  }

  private final RdmaSockets sockets;
  private final EventLoopGroup clients;

  private RdmaLoopResources(RdmaSockets sockets) {
    this.sockets = sockets;
    clients = LoopResources.colocate(sockets.group());
  }

  /**
   * The event loops of some sockets. To dispose of them closes the sockets, and the other way
   * round: one of the two will do.
   */
  public static RdmaLoopResources create(RdmaSockets sockets) {
    return new RdmaLoopResources(requireNonNull(sockets, "sockets"));
  }

  /** A client that connects from within a loop stays on it. */
  @Override
  public EventLoopGroup onClient(boolean useNative) {
    return clients;
  }

  @Override
  public EventLoopGroup onServer(boolean useNative) {
    return sockets.group();
  }

  /**
   * @throws IllegalArgumentException if it is not a stream's channel, nor one of datagrams
   * @throws java.util.concurrent.RejectedExecutionException if these loops are disposed of
   */
  @Override
  public <CHANNEL extends Channel> CHANNEL onChannel(
      Class<CHANNEL> channelType, EventLoopGroup group) {
    return channelType.cast(
        channelType == DatagramChannel.class
            ? sockets.newDatagramChannel()
            : isServer(channelType) ? sockets.newServerChannel() : sockets.newChannel());
  }

  /**
   * @throws IllegalArgumentException if it is not a stream's channel
   */
  @Override
  public <CHANNEL extends Channel> Class<? extends CHANNEL> onChannelClass(
      Class<CHANNEL> channelType, EventLoopGroup group) {
    return (isServer(channelType) ? sockets.serverChannelType() : sockets.channelType())
        .asSubclass(channelType);
  }

  private static boolean isServer(Class<?> type) {
    if (type != SocketChannel.class && type != ServerSocketChannel.class) {
      throw new IllegalArgumentException(
          "channelType: " + type.getName() + " (expected: SocketChannel or ServerSocketChannel)");
    }
    return type == ServerSocketChannel.class;
  }

  @Override
  public boolean daemon() {
    return true;
  }

  @Override
  public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
    return Mono.create(
        sink ->
            sockets
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
    return sockets.isClosed();
  }
}
