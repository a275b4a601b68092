package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.samples.tcp.TcpTransport;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
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
  private static final Duration BIND_LIMIT = Duration.ofSeconds(30);

  @Parameters(
      index = "0",
      description = "Where to serve: the URI of a provider, or tcp://host:port for the TCP twin.")
  private URI uri = URI.create("emulated://blockstore");

  @Parameters(index = "1..*", arity = "1..*", description = "The files.")
  private List<Path> files = List.of();

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
    CountDownLatch interrupted = new CountDownLatch(1);
    Thread end =
        new Thread(
            () -> {
              interrupted.countDown();
              cleanup.close();
            });
    try {
      BlockServer server = start(cleanup);
      System.out.println("serving " + files.size() + " files at " + server.address());
      Runtime.getRuntime().addShutdownHook(end);
    } catch (IOException | RuntimeException e) {
      cleanup.close();
      throw e;
    }
    interrupted.await();
    return 0;
  }

  private BlockServer start(Cleanup cleanup) throws IOException {
    BlockCatalog catalog = new BlockCatalog();
    if (TcpTransport.SCHEME.equals(uri.getScheme())) {
      cleanup.add(catalog::close);
      TcpTransport transport =
          new TcpTransport(
              Runtime.getRuntime().availableProcessors(),
              PooledByteBufAllocator.DEFAULT,
              BlockProtocol.MAX_LENGTH);
      cleanup.add(transport::dispose);
      load(catalog, transport.allocator());
      return started(TcpBlockServer.start(transport, uri, catalog, BIND_LIMIT), cleanup);
    }
    RdmaTransport transport =
        RdmaTransport.create(RdmaOptions.builder().maxRegisteredBytes(maxRegistered).build());
    cleanup.add(transport::dispose);
    cleanup.add(catalog::close);
    load(catalog, transport.memory(uri).allocator());
    return started(RdmaBlockServer.start(transport, uri, catalog, BIND_LIMIT), cleanup);
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
