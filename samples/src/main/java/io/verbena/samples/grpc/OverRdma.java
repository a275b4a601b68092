// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaIoHandler;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** gRPC on an HCA. Compare it with {@link OverTcp}. */
final class OverRdma implements Transport {
  private static final int PATIENCE = 10;

  private final EventLoopGroup loops;

  /**
   * @param hca its address
   */
  OverRdma(URI hca) {
    loops = new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory(hca));
  }

  @Override
  public NettyServerBuilder server(InetSocketAddress at) {
    return RdmaGrpc.server(NettyServerBuilder.forAddress(at), loops);
  }

  @Override
  public NettyChannelBuilder client(InetSocketAddress at) {
    return RdmaGrpc.client(NettyChannelBuilder.forAddress(at), loops);
  }

  @Override
  public void close() {
    loops.shutdownGracefully(0, PATIENCE, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
