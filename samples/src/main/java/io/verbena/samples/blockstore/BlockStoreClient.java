// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.netty.NettyChannelBuilder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.Count;
import io.verbena.samples.tcp.TcpTransport;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The block store's client as a program, by URI. */
@Command(
    name = "block-store-client",
    mixinStandardHelpOptions = true,
    description = "Reads every block of a store and checks its digest, or runs a command.")
public final class BlockStoreClient implements Callable<Integer> {
  private static final int LOOPS = 1;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "URI",
      defaultValue = Addresses.DEFAULT,
      description =
          "Where the store is: the URI of a provider, or tcp://host:port (default:"
              + " ${DEFAULT-VALUE}).")
  private URI uri = URI.create(Addresses.DEFAULT);

  @Option(names = "--grpc", description = "The store is behind gRPC.")
  private boolean grpc;

  @Option(
      names = "--limit",
      converter = Count.class,
      defaultValue = "120",
      description = "Seconds after which a step has failed (default: ${DEFAULT-VALUE}).")
  private int limitSeconds;

  /** Runs it and exits: 0 if all went well, 1 if not, 2 for wrong usage. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /** The program, ready to execute; the exit code is 0 if all went well, 1 if not, 2 for usage. */
  public static CommandLine commandLine() {
    return new CommandLine(new BlockStoreClient())
        .setExecutionExceptionHandler(BlockStoreClient::fail);
  }

  /** Checks every block. */
  @Override
  public Integer call() {
    return onStore(
        (client, memory) -> {
          for (BlockInfo block : Waits.value(client.list(), limit(), "list")) {
            read(client, memory, block.name(), block.name(), content -> {});
          }
          return 0;
        });
  }

  @Command(description = "Lists every block.")
  int list() {
    return onStore(
        (client, memory) -> {
          for (BlockInfo block : Waits.value(client.list(), limit(), "list")) {
            print(block);
          }
          return 0;
        });
  }

  @Command(description = "Shows one block.")
  int stat(@Parameters(paramLabel = "NAME", description = "The block.") String name) {
    return onStore(
        (client, memory) -> {
          print(Waits.value(client.stat(name), limit(), "stat"));
          return 0;
        });
  }

  @Command(description = "Reads a block, by one-sided READ where there is one, into a file.")
  int get(
      @Parameters(paramLabel = "NAME", description = "The block.") String name,
      @Parameters(paramLabel = "FILE", description = "Written anew.") Path file) {
    return onStore(
        (client, memory) -> {
          read(client, memory, name, file, content -> save(content, file));
          return 0;
        });
  }

  @Command(description = "Writes a file by one-sided WRITE; the server checks its digest.")
  int put(@Parameters(paramLabel = "FILE", description = "The file.") Path file) {
    return onStore((client, memory) -> put(oneSided(client), memory, file));
  }

  @Command(description = "Draws a ticket by fetch-and-add.")
  int ticket() {
    return onStore(
        (client, memory) -> {
          RdmaBlockClient drawer = oneSided(client);
          RemoteMemory counter = Waits.value(drawer.tickets(), limit(), "locate tickets");
          out().println(Waits.value(drawer.draw(counter, 1), limit(), "draw a ticket"));
          return 0;
        });
  }

  private interface Action {
    int run(BlockClient client, ByteBufAllocator memory) throws IOException;
  }

  private interface Use {
    void accept(ByteBuf content) throws IOException;
  }

  private int onStore(Action action) {
    try (Cleanup cleanup = new Cleanup()) {
      if (grpc) {
        return onStoreBehindGrpc(cleanup, action);
      }
      if (Addresses.isTcp(uri)) {
        TcpTransport transport =
            new TcpTransport(LOOPS, PooledByteBufAllocator.DEFAULT, Answers.MAX_MESSAGE_LENGTH);
        cleanup.add(transport::dispose);
        return run(
            Waits.value(TcpBlockClient.connect(transport, uri), limit(), "connect to " + uri),
            transport.allocator(),
            action);
      }
      RdmaTransport transport = newTransport();
      cleanup.add(transport::dispose);
      return run(
          Waits.value(RdmaBlockClient.connect(transport, uri), limit(), "connect to " + uri),
          transport.memory(uri).allocator(),
          action);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One whose connects may take as long as the user gives them. */
  private RdmaTransport newTransport() {
    return RdmaTransport.create(RdmaOptions.builder().connectTimeout(limit()).build());
  }

  private int run(BlockClient client, ByteBufAllocator memory, Action action) throws IOException {
    int code = action.run(client, memory);
    Waits.end(client.close(), limit(), "close");
    return code;
  }

  private int onStoreBehindGrpc(Cleanup cleanup, Action action) throws IOException {
    GrpcChannels channels = new GrpcChannels();
    NettyChannelBuilder builder = NettyChannelBuilder.forAddress(Addresses.socket(uri));
    if (Addresses.isTcp(uri)) {
      cleanup.add(() -> channels.close(limit()));
      return run(
          new GrpcTcpClient(channels.open(builder), limit()),
          PooledByteBufAllocator.DEFAULT,
          action);
    }
    RdmaSockets sockets = RdmaSockets.create(uri);
    cleanup.add(sockets::close);
    cleanup.add(() -> channels.close(limit()));
    RdmaTransport transport = newTransport();
    cleanup.add(transport::dispose);
    URI memory = GrpcBlockServer.memoryOf(uri);
    RdmaConnection connection =
        Waits.value(transport.connect(memory), limit(), "connect to " + memory);
    return run(
        new GrpcRdmaClient(channels.open(RdmaGrpc.client(builder, sockets)), connection, limit()),
        connection.memory().allocator(),
        action);
  }

  /** Reads a block, checks its digest, hands its bytes to {@code use}, and prints a line. */
  private void read(BlockClient client, ByteBufAllocator memory, String name, Object label, Use use)
      throws IOException {
    BlockInfo block = Waits.value(client.stat(name), limit(), "stat");
    int length = Math.toIntExact(block.length());
    ByteBuf content = memory.directBuffer(length, length);
    try {
      long began = System.nanoTime();
      Waits.end(client.read(name, content), limit(), "read");
      double rate = 1e3 * length / (System.nanoTime() - began);
      Sha256 digest = Sha256.of(content);
      if (!digest.equals(block.sha256())) {
        throw new ProtocolException("sha256: " + digest + " (expected: " + block.sha256() + ")");
      }
      use.accept(content);
      out().printf(Locale.ROOT, "%s: %d bytes at %.0f MB/s, sha256 checked%n", label, length, rate);
    } finally {
      content.release();
    }
  }

  private int put(RdmaBlockClient client, ByteBufAllocator memory, Path file) throws IOException {
    Block block = Block.load(file, memory);
    try {
      Reply.Reservation reservation = Waits.value(client.reserve(block.info()), limit(), "reserve");
      Waits.end(client.write(block.content(), reservation), limit(), "write");
      print(Waits.value(client.stored(), limit(), "check by the server"));
      return 0;
    } finally {
      block.content().release();
    }
  }

  private static void save(ByteBuf content, Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      while (content.isReadable()) {
        content.readBytes(channel, content.readableBytes());
      }
    }
  }

  private RdmaBlockClient oneSided(BlockClient client) {
    if (client instanceof RdmaBlockClient rdma) {
      return rdma;
    }
    throw new RefusedException(
        ErrorCode.NOT_SUPPORTED,
        (grpc ? "a store behind gRPC" : uri.getScheme()) + " has no one-sided operations");
  }

  private void print(BlockInfo block) {
    out().printf(Locale.ROOT, "%s %12d %s%n", block.sha256(), block.length(), block.name());
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private Duration limit() {
    return Duration.ofSeconds(limitSeconds);
  }

  private static int fail(Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
    command.getErr().println(failure instanceof RdmaException ? failure.getMessage() : failure);
    return 1;
  }
}
