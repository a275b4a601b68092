// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import static java.util.Objects.requireNonNull;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.verbena.netty.RdmaSockets;

/**
 * Sets what gRPC's own builders need to run over RDMA; all else of them stays as it is.
 *
 * <pre>{@code
 * RdmaSockets sockets = RdmaSockets.create(URI.create("emulated://grpc"));
 * Server server = RdmaGrpc.server(NettyServerBuilder.forPort(7000), sockets)
 *     .addService(service).build().start();
 * ManagedChannel channel = RdmaGrpc.client(NettyChannelBuilder.forAddress("localhost", 7000), sockets)
 *     .usePlaintext().build();
 * }</pre>
 *
 * <p>The sockets belong to the caller, who closes them behind the channel and the server. gRPC
 * looks host names up as ever. It brings an allocator of its own, so that its bytes are copied once
 * into registered memory, as they would be into a socket; a large direct buffer is registered
 * instead.
 */
public final class RdmaGrpc {
  private RdmaGrpc() {}

  /**
   * Makes a client's connections run over RDMA; with {@link RdmaSockets.Builder#orTcp} over TCP
   * where the server has none.
   *
   * @return the builder
   */
  public static NettyChannelBuilder client(NettyChannelBuilder builder, RdmaSockets sockets) {
    requireNonNull(builder, "builder");
    requireNonNull(sockets, "sockets");
    return builder.eventLoopGroup(sockets.group()).channelFactory(sockets::newChannel);
  }

  /**
   * Makes a server listen over RDMA, and its connections run on the same event loops; with {@link
   * RdmaSockets.Builder#orTcp} over TCP too, at the same port.
   *
   * @return the builder
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
