// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import static java.util.Objects.requireNonNull;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.verbena.netty.AutoServerSocketChannel;
import io.verbena.netty.AutoSocketChannel;
import io.verbena.netty.RdmaServerSocketChannel;
import io.verbena.netty.RdmaSocketChannel;

/**
 * Sets what gRPC's own builders need to run over RDMA; all else of them stays as it is.
 *
 * <pre>{@code
 * EventLoopGroup loops = new MultiThreadIoEventLoopGroup(
 *     RdmaIoHandler.newFactory(URI.create("emulated://grpc")));
 * Server server = RdmaGrpc.server(NettyServerBuilder.forPort(7000), loops)
 *     .addService(service).build().start();
 * ManagedChannel channel = RdmaGrpc.client(NettyChannelBuilder.forAddress("localhost", 7000), loops)
 *     .usePlaintext().build();
 * }</pre>
 *
 * <p>The event loops belong to the caller, who ends them behind the channel and the server. gRPC
 * brings an allocator of its own, so that its bytes are copied once into registered memory, as they
 * would be into a socket; a large direct buffer is registered instead.
 */
public final class RdmaGrpc {
  private RdmaGrpc() {}

  /**
   * Lets a client's connections run over RDMA.
   *
   * @param loops event loops with an {@link io.verbena.netty.RdmaIoHandler}
   * @return the builder
   */
  public static NettyChannelBuilder client(NettyChannelBuilder builder, EventLoopGroup loops) {
    requireNonNull(builder, "builder");
    requireNonNull(loops, "loops");
    return builder.eventLoopGroup(loops).channelType(RdmaSocketChannel.class);
  }

  /**
   * Lets a server listen over RDMA, and its connections run on the same event loops.
   *
   * @param loops event loops with an {@link io.verbena.netty.RdmaIoHandler}
   * @return the builder
   */
  public static NettyServerBuilder server(NettyServerBuilder builder, EventLoopGroup loops) {
    return server(builder, loops, loops);
  }

  /**
   * Lets a server listen over RDMA.
   *
   * @param boss the event loops that listen, with an {@link io.verbena.netty.RdmaIoHandler} of the
   *     same HCA as those of the connections
   * @param workers the event loops of its connections
   * @return the builder
   */
  public static NettyServerBuilder server(
      NettyServerBuilder builder, EventLoopGroup boss, EventLoopGroup workers) {
    requireNonNull(builder, "builder");
    requireNonNull(boss, "boss");
    requireNonNull(workers, "workers");
    return builder
        .bossEventLoopGroup(boss)
        .workerEventLoopGroup(workers)
        .channelType(RdmaServerSocketChannel.class);
  }

  /**
   * Lets a client's connections run over RDMA where the server has it, and else over TCP.
   *
   * @param loops event loops of {@link io.verbena.netty.AutoIoHandler}, with sockets of NIO
   * @return the builder
   */
  public static NettyChannelBuilder autoClient(NettyChannelBuilder builder, EventLoopGroup loops) {
    requireNonNull(builder, "builder");
    requireNonNull(loops, "loops");
    return builder.eventLoopGroup(loops).channelType(AutoSocketChannel.class);
  }

  /**
   * Lets a server listen over RDMA and over TCP at its port; over TCP alone on a host without an
   * HCA.
   *
   * @param loops event loops of {@link io.verbena.netty.AutoIoHandler}, with sockets of NIO
   * @return the builder
   */
  public static NettyServerBuilder autoServer(NettyServerBuilder builder, EventLoopGroup loops) {
    requireNonNull(builder, "builder");
    requireNonNull(loops, "loops");
    return builder
        .bossEventLoopGroup(loops)
        .workerEventLoopGroup(loops)
        .channelType(AutoServerSocketChannel.class);
  }
}
