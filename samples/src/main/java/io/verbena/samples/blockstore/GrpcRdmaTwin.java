// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaIoHandler;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/**
 * A store behind gRPC on an HCA: its calls by gRPC, its bytes by one-sided READ. Compare it with
 * {@link GrpcTcpTwin}.
 */
final class GrpcRdmaTwin implements Twin {
  private final RdmaTwin store;
  private final BlockCatalog catalog;
  private final EventLoopGroup loops;
  private final GrpcBlockServer server;
  private final GrpcChannels channels = new GrpcChannels();
  private final Duration limit;

  private GrpcRdmaTwin(
      RdmaTwin store,
      BlockCatalog catalog,
      EventLoopGroup loops,
      GrpcBlockServer server,
      Duration limit) {
    this.store = store;
    this.catalog = catalog;
    this.loops = loops;
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
    EventLoopGroup loops =
        new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory(store.address()));
    try {
      NettyServerBuilder builder = RdmaGrpc.server(NettyServerBuilder.forPort(0), loops);
      Leases leases = new Leases(store.serverMemory());
      GrpcBlockServer server = new GrpcBlockServer(builder, new GrpcBlockService(catalog, leases));
      return new GrpcRdmaTwin(store, catalog, loops, server, limit);
    } catch (IOException | RuntimeException e) {
      catalog.close();
      end(loops, limit);
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
                            NettyChannelBuilder.forAddress("localhost", server.port()), loops)),
                    connection,
                    limit));
  }

  @Override
  public void close() {
    channels.close(limit);
    server.close(limit);
    catalog.close();
    end(loops, limit);
  }

  /** Ends event loops; idempotent. */
  static void end(EventLoopGroup loops, Duration limit) {
    loops.shutdownGracefully(0, limit.toNanos(), TimeUnit.NANOSECONDS).syncUninterruptibly();
  }
}
