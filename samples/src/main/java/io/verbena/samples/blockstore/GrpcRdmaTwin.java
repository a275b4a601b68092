// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * A store behind gRPC on an HCA: gRPC carries the calls, one-sided READ the bytes. Compare it with
 * {@link GrpcTcpTwin}.
 */
final class GrpcRdmaTwin implements Twin {
  private final RdmaTwin store;
  private final Cleanup cleanup;
  private final RdmaSockets sockets;
  private final GrpcBlockServer server;
  private final GrpcChannels channels;
  private final Duration limit;

  private GrpcRdmaTwin(
      RdmaTwin store,
      Cleanup cleanup,
      RdmaSockets sockets,
      GrpcBlockServer server,
      GrpcChannels channels,
      Duration limit) {
    this.store = store;
    this.cleanup = cleanup;
    this.sockets = sockets;
    this.server = server;
    this.channels = channels;
    this.limit = limit;
  }

  /**
   * Serves a store's block on a free port of its HCA.
   *
   * @param store must outlive the twin
   * @param limit the deadline of a call
   */
  static GrpcRdmaTwin start(RdmaTwin store, Duration limit) throws IOException {
    Cleanup cleanup = new Cleanup();
    try {
      RdmaSockets sockets = RdmaSockets.create(store.address());
      cleanup.add(sockets::close);
      BlockCatalog catalog = new BlockCatalog();
      catalog.add(store.block().share());
      cleanup.add(catalog::close);
      NettyServerBuilder builder = RdmaGrpc.server(NettyServerBuilder.forPort(0), sockets);
      Leases leases = new Leases(store.serverMemory());
      GrpcBlockServer server = new GrpcBlockServer(builder, new GrpcBlockService(catalog, leases));
      cleanup.add(() -> server.close(limit));
      GrpcChannels channels = new GrpcChannels();
      cleanup.add(() -> channels.close(limit));
      return new GrpcRdmaTwin(store, cleanup, sockets, server, channels, limit);
    } catch (IOException | RuntimeException e) {
      cleanup.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return "RDMA";
  }

  @Override
  public URI address() {
    return store.address();
  }

  @Override
  public Mono<GrpcRdmaClient> connect() {
    return store
        .clients()
        .connect(address())
        .map(
            connection ->
                new GrpcRdmaClient(
                    channels.open(
                        RdmaGrpc.client(
                            NettyChannelBuilder.forAddress("localhost", server.port()), sockets)),
                    connection,
                    limit));
  }

  @Override
  public void close() {
    cleanup.close();
  }
}
