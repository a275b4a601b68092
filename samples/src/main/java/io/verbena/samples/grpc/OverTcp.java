package io.verbena.samples.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;

/** gRPC as it is. Hold it against {@link OverRdma}. */
final class OverTcp implements Transport {

  @Override
  public String name() {
    return "TCP";
  }

  @Override
  public NettyServerBuilder server() {
    return NettyServerBuilder.forPort(0);
  }

  @Override
  public NettyChannelBuilder client(int port) {
    return NettyChannelBuilder.forAddress("localhost", port);
  }

  /** gRPC has event loops of its own. */
  @Override
  public void close() {}
}
