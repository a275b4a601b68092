// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import java.net.URI;
import java.util.function.Consumer;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.FlightProducer;
import org.apache.arrow.flight.FlightServer;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.grpc.NettyClientBuilder;
import org.apache.arrow.memory.BufferAllocator;

/** Arrow Flight on an HCA, by its gRPC builders. Compare it with {@link OverTcp}. */
final class OverRdma implements Transport {
  private final RdmaSockets sockets;

  /**
   * @param hca its address
   */
  OverRdma(URI hca) {
    sockets = RdmaSockets.create(hca);
  }

  @Override
  public FlightServer.Builder server(BufferAllocator memory, Location at, FlightProducer tables) {
    Consumer<NettyServerBuilder> rdma = grpc -> RdmaGrpc.server(grpc, sockets);
    return FlightServer.builder(memory, at, tables).transportHint("grpc.builderConsumer", rdma);
  }

  @Override
  public FlightClient client(BufferAllocator memory, Location at) {
    NettyChannelBuilder grpc = RdmaGrpc.client(new NettyClientBuilder(memory, at).build(), sockets);
    return FlightGrpcUtils.createFlightClient(memory, grpc.build());
  }

  @Override
  public void close() {
    sockets.close();
  }
}
