// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.netty.NettyServerBuilder;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.Program;
import io.verbena.samples.program.SampleServer;
import io.verbena.samples.tcp.TcpTransport;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The block store's server as a program: serves files by URI until it is interrupted. */
@Command(
    name = "block-store-server",
    mixinStandardHelpOptions = true,
    description = "Serves files at a URI until it is interrupted.")
public final class BlockStoreServer implements Callable<Integer> {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "URI",
      defaultValue = Addresses.DEFAULT,
      description =
          "Where to serve: the URI of a provider, or tcp://host:port for the TCP twin (default:"
              + " ${DEFAULT-VALUE}).")
  private URI uri = URI.create(Addresses.DEFAULT);

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "FILE",
      description = "The files (default: lib/modules of the running JDK).")
  private List<Path> files = List.of(Demo.FILE);

  @Option(
      names = "--grpc",
      description =
          "Serve the store behind gRPC; over RDMA its memory is at the port behind that of the"
              + " URI.")
  private boolean grpc;

  @Option(
      names = "--max-registered",
      defaultValue = "2147483648",
      description = "Bytes of memory that may be registered (default: ${DEFAULT-VALUE}).")
  private long maxRegistered;

  /** Runs it. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new BlockStoreServer()).execute(args));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Cleanup cleanup = new Cleanup();
    SampleServer server;
    try {
      server = SampleServer.of(start(cleanup), cleanup::close);
    } catch (IOException | RuntimeException e) {
      cleanup.close();
      throw e;
    }
    Program.keep(server, "serving " + files.size() + " files at " + server.address(), System.out);
    return 0;
  }

  private URI start(Cleanup cleanup) throws IOException {
    BlockCatalog catalog = new BlockCatalog();
    if (Addresses.isTcp(uri)) {
      cleanup.add(catalog::close);
      return grpc ? startGrpcOverTcp(catalog, cleanup) : startOverTcp(catalog, cleanup);
    }
    RdmaTransport transport =
        RdmaTransport.create(RdmaOptions.builder().maxRegisteredBytes(maxRegistered).build());
    cleanup.add(transport::dispose);
    cleanup.add(catalog::close);
    load(catalog, transport.memory(uri).allocator());
    URI memory = grpc ? GrpcBlockServer.memoryOf(uri) : uri;
    BlockServer server = started(RdmaBlockServer.start(transport, memory, catalog, LIMIT), cleanup);
    return grpc ? startGrpcOverRdma(catalog, transport, cleanup) : server.address();
  }

  private URI startOverTcp(BlockCatalog catalog, Cleanup cleanup) throws IOException {
    TcpTransport transport =
        new TcpTransport(
            Runtime.getRuntime().availableProcessors(),
            PooledByteBufAllocator.DEFAULT,
            BlockProtocol.MAX_LENGTH);
    cleanup.add(transport::dispose);
    load(catalog, transport.allocator());
    return started(TcpBlockServer.start(transport, uri, catalog, LIMIT), cleanup).address();
  }

  private URI startGrpcOverTcp(BlockCatalog catalog, Cleanup cleanup) throws IOException {
    load(catalog, PooledByteBufAllocator.DEFAULT);
    NettyServerBuilder builder = NettyServerBuilder.forAddress(Addresses.socket(uri));
    return started(builder, new GrpcBlockService(catalog, null), cleanup);
  }

  private URI startGrpcOverRdma(BlockCatalog catalog, RdmaTransport transport, Cleanup cleanup)
      throws IOException {
    RdmaSockets sockets = RdmaSockets.create(uri);
    cleanup.add(sockets::close);
    NettyServerBuilder builder =
        RdmaGrpc.server(NettyServerBuilder.forAddress(Addresses.socket(uri)), sockets);
    Leases leases = new Leases(transport.memory(uri));
    return started(builder, new GrpcBlockService(catalog, leases), cleanup);
  }

  private URI started(NettyServerBuilder builder, GrpcBlockService service, Cleanup cleanup)
      throws IOException {
    GrpcBlockServer server = new GrpcBlockServer(builder, service);
    cleanup.add(() -> server.close(LIMIT));
    return Addresses.withPort(uri, server.port());
  }

  private void load(BlockCatalog catalog, ByteBufAllocator allocator) throws IOException {
    for (Path file : files) {
      Block block = Block.load(file, allocator);
      try {
        catalog.add(block);
      } catch (RefusedException e) {
        block.content().release();
        throw e;
      }
    }
  }

  private static BlockServer started(BlockServer server, Cleanup cleanup) {
    cleanup.add(server::close);
    return server;
  }
}
