// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import java.net.InetSocketAddress;
import java.net.URI;

/** gRPC on an HCA. Compare it with {@link OverTcp}. */
final class OverRdma implements Transport {
  private final RdmaSockets sockets;

  /**
   * @param hca its address
   */
  OverRdma(URI hca) {
    sockets = RdmaSockets.create(hca);
  }

  @Override
  public NettyServerBuilder server(InetSocketAddress at) {
    return RdmaGrpc.server(NettyServerBuilder.forAddress(at), sockets);
  }

  @Override
  public NettyChannelBuilder client(InetSocketAddress at) {
    return RdmaGrpc.client(NettyChannelBuilder.forAddress(at), sockets);
  }

  @Override
  public void close() {
    sockets.close();
  }
}
