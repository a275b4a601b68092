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
 * A store behind gRPC on an HCA: its calls by gRPC, its bytes by one-sided READ. Compare it with
 * {@link GrpcTcpTwin}.
 */
final class GrpcRdmaTwin implements Twin {
  private final RdmaTwin store;
  private final BlockCatalog catalog;
  private final RdmaSockets sockets;
  private final GrpcBlockServer server;
  private final GrpcChannels channels = new GrpcChannels();
  private final Duration limit;

  private GrpcRdmaTwin(
      RdmaTwin store,
      BlockCatalog catalog,
      RdmaSockets sockets,
      GrpcBlockServer server,
      Duration limit) {
    this.store = store;
    this.catalog = catalog;
    this.sockets = sockets;
    this.server = server;
    this.limit = limit;
  }

  /**
   * Serves a store's block on a free port of its HCA.
   *
   * @param store which outlives it
   * @param limit the deadline of a call
   */
  static GrpcRdmaTwin start(RdmaTwin store, Duration limit) throws IOException {
    BlockCatalog catalog = new BlockCatalog();
    catalog.add(store.block().share());
    RdmaSockets sockets = RdmaSockets.create(store.address());
    try {
      NettyServerBuilder builder = RdmaGrpc.server(NettyServerBuilder.forPort(0), sockets);
      Leases leases = new Leases(store.serverMemory());
      GrpcBlockServer server = new GrpcBlockServer(builder, new GrpcBlockService(catalog, leases));
      return new GrpcRdmaTwin(store, catalog, sockets, server, limit);
    } catch (IOException | RuntimeException e) {
      catalog.close();
      sockets.close();
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
    channels.close(limit);
    server.close(limit);
    catalog.close();
    sockets.close();
  }
}
