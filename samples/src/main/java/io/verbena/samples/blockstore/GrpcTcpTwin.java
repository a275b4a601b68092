// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** A store behind gRPC, on sockets only. Compare it with {@link GrpcRdmaTwin}. */
final class GrpcTcpTwin implements Twin {
  private final Cleanup cleanup;
  private final GrpcBlockServer server;
  private final GrpcChannels channels;
  private final Duration limit;

  private GrpcTcpTwin(
      Cleanup cleanup, GrpcBlockServer server, GrpcChannels channels, Duration limit) {
    this.cleanup = cleanup;
    this.server = server;
    this.channels = channels;
    this.limit = limit;
  }

  /**
   * Serves a block on a free port.
   *
   * @param block owned by the twin
   * @param limit the deadline of a call
   */
  static GrpcTcpTwin start(Block block, Duration limit) throws IOException {
    Cleanup cleanup = new Cleanup();
    try {
      BlockCatalog catalog = new BlockCatalog();
      catalog.add(block);
      cleanup.add(catalog::close);
      NettyServerBuilder builder = NettyServerBuilder.forPort(0);
      GrpcBlockServer server = new GrpcBlockServer(builder, new GrpcBlockService(catalog, null));
      cleanup.add(() -> server.close(limit));
      GrpcChannels channels = new GrpcChannels();
      cleanup.add(() -> channels.close(limit));
      return new GrpcTcpTwin(cleanup, server, channels, limit);
    } catch (IOException | RuntimeException e) {
      cleanup.close();
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
    cleanup.close();
  }
}
