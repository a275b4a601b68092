package io.verbena.samples.blockstore;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** A store behind gRPC, on sockets alone. Hold it against {@link GrpcRdmaTwin}. */
final class GrpcTcpTwin implements Twin {
  private final BlockCatalog catalog;
  private final GrpcEnds ends;
  private final Duration limit;

  private GrpcTcpTwin(BlockCatalog catalog, GrpcEnds ends, Duration limit) {
    this.catalog = catalog;
    this.ends = ends;
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
      NettyServerBuilder server = NettyServerBuilder.forPort(0);
      GrpcEnds ends = new GrpcEnds(server, new GrpcBlockService(catalog, null));
      return new GrpcTcpTwin(catalog, ends, limit);
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
    return URI.create("tcp://localhost:" + ends.port());
  }

  @Override
  public Mono<GrpcTcpClient> connect() {
    return Mono.fromSupplier(
        () ->
            new GrpcTcpClient(
                ends.open(NettyChannelBuilder.forAddress("localhost", ends.port())), limit));
  }

  @Override
  public void close() {
    ends.close(limit);
    catalog.close();
  }
}
