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
 * transports on top of these.
 *
 * <pre>{@code
 * RdmaSockets sockets = RdmaSockets.create(URI.create("emulated://http"));
 * LoopResources rdma = RdmaLoopResources.create(sockets);
 * HttpServer.create().runOn(rdma).port(8080)...
 * HttpClient.create().runOn(rdma).port(8080)...
 * }</pre>
 *
 * <p>Datagrams do not travel over RDMA. Datagram channels, such as those of Netty's DNS client,
 * with which Reactor Netty looks names up, are UDP sockets on the same loops: of NIO, or of the
 * kind set by {@link RdmaSockets.Builder#sockets}. DNS over TCP would go over RDMA, which a DNS
 * server does not have, so an answer that does not fit into a datagram is used truncated. With
 * {@link RdmaSockets.Builder#orTcp} DNS over TCP works.
 *
 * <p>Reactor's blocking operators fail on the threads of these loops.
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
   * Returns the event loops of {@code sockets}. Disposing of them closes the sockets, and closing
   * the sockets disposes of them: one of the two is enough.
   */
  public static RdmaLoopResources create(RdmaSockets sockets) {
    return new RdmaLoopResources(requireNonNull(sockets, "sockets"));
  }

  /**
   * Returns the loops for clients. A client that connects on the thread of a loop stays on that
   * loop.
   */
  @Override
  public EventLoopGroup onClient(boolean useNative) {
    return clients;
  }

  @Override
  public EventLoopGroup onServer(boolean useNative) {
    return sockets.group();
  }

  /**
   * @throws IllegalArgumentException if {@code channelType} is not {@code SocketChannel}, {@code
   *     ServerSocketChannel} or {@code DatagramChannel}
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
   * @throws IllegalArgumentException if {@code channelType} is not {@code SocketChannel} or {@code
   *     ServerSocketChannel}
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
