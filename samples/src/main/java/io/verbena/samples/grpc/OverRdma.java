package io.verbena.samples.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaIoHandler;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** gRPC on an HCA. Hold it against {@link OverTcp}. */
final class OverRdma implements Transport {
  private static final int PATIENCE = 10;

  private final EventLoopGroup loops;

  /**
   * @param hca which one
   */
  OverRdma(URI hca) {
    loops = new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory(hca));
  }

  @Override
  public String name() {
    return "RDMA";
  }

  @Override
  public NettyServerBuilder server() {
    return RdmaGrpc.server(NettyServerBuilder.forPort(0), loops);
  }

  @Override
  public NettyChannelBuilder client(int port) {
    return RdmaGrpc.client(NettyChannelBuilder.forAddress("localhost", port), loops);
  }

  @Override
  public void close() {
    loops.shutdownGracefully(0, PATIENCE, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
