// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.net.InetSocketAddress;

/** gRPC on TCP. Compare it with {@link OverRdma}. */
final class OverTcp implements Transport {

  @Override
  public NettyServerBuilder server(InetSocketAddress at) {
    return NettyServerBuilder.forAddress(at);
  }

  @Override
  public NettyChannelBuilder client(InetSocketAddress at) {
    return NettyChannelBuilder.forAddress(at);
  }

  /** Does nothing, as gRPC has its own event loops. */
  @Override
  public void close() {}
}
