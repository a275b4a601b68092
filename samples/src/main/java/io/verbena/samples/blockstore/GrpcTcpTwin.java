// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** A store behind gRPC, on sockets alone. Compare it with {@link GrpcRdmaTwin}. */
final class GrpcTcpTwin implements Twin {
  private final BlockCatalog catalog;
  private final GrpcBlockServer server;
  private final GrpcChannels channels = new GrpcChannels();
  private final Duration limit;

  private GrpcTcpTwin(BlockCatalog catalog, GrpcBlockServer server, Duration limit) {
    this.catalog = catalog;
    this.server = server;
    this.limit = limit;
  }

  /**
   * Serves a block on a free port.
   *
   * @param block which it takes over
   * @param limit the deadline of a call
   */
  static GrpcTcpTwin start(Block block, Duration limit) throws IOException {
    BlockCatalog catalog = new BlockCatalog();
    catalog.add(block);
    try {
      NettyServerBuilder builder = NettyServerBuilder.forPort(0);
      GrpcBlockServer server = new GrpcBlockServer(builder, new GrpcBlockService(catalog, null));
      return new GrpcTcpTwin(catalog, server, limit);
    } catch (IOException | RuntimeException e) {
      catalog.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return "TCP";
  }

  @Override
  public URI address() {
    return URI.create("tcp://localhost:" + server.port());
  }

  @Override
  public Mono<GrpcTcpClient> connect() {
    return Mono.fromSupplier(
        () ->
            new GrpcTcpClient(
                channels.open(NettyChannelBuilder.forAddress("localhost", server.port())), limit));
  }

  @Override
  public void close() {
    channels.close(limit);
    server.close(limit);
    catalog.close();
  }
}
