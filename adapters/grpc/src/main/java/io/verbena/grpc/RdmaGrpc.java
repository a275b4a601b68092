// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import static java.util.Objects.requireNonNull;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.verbena.netty.RdmaSockets;

/**
 * Sets the event loops and channels of gRPC's own builders, so that they run over RDMA, and nothing
 * else.
 *
 * <pre>{@code
 * RdmaSockets sockets = RdmaSockets.create(URI.create("emulated://grpc"));
 * Server server = RdmaGrpc.server(NettyServerBuilder.forPort(7000), sockets)
 *     .addService(service).build().start();
 * ManagedChannel channel = RdmaGrpc.client(NettyChannelBuilder.forAddress("localhost", 7000), sockets)
 *     .usePlaintext().build();
 * }</pre>
 *
 * <p>The sockets belong to the caller, who closes them after the channel and the server. gRPC looks
 * host names up as usual. It has an allocator of its own, so its bytes are copied once into
 * registered memory, as they would be into a socket; a large direct buffer is registered instead.
 */
public final class RdmaGrpc {
  private RdmaGrpc() {}

  /**
   * Makes a client connect over RDMA; with {@link RdmaSockets.Builder#orTcp} over TCP if the server
   * has no RDMA.
   *
   * @return {@code builder}
   */
  public static NettyChannelBuilder client(NettyChannelBuilder builder, RdmaSockets sockets) {
    requireNonNull(builder, "builder");
    requireNonNull(sockets, "sockets");
    return builder.eventLoopGroup(sockets.group()).channelFactory(sockets::newChannel);
  }

  /**
   * Makes a server listen over RDMA, and serve its connections on the same event loops; with {@link
   * RdmaSockets.Builder#orTcp} over TCP too, at the same port.
   *
   * @return {@code builder}
   */
  public static NettyServerBuilder server(NettyServerBuilder builder, RdmaSockets sockets) {
    requireNonNull(builder, "builder");
    requireNonNull(sockets, "sockets");
    return builder
        .bossEventLoopGroup(sockets.group())
        .workerEventLoopGroup(sockets.group())
        .channelFactory(sockets::newServerChannel);
  }
}
