// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.samples.program.Count;
import io.verbena.samples.program.Program;
import io.verbena.samples.report.Progress;
import io.verbena.samples.report.Report;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The block store's main job: serves a real file to several clients over RDMA semantics, does the
 * same over TCP on loopback, then both behind gRPC, checks every byte, and prints the results.
 */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = "Serves a file over RDMA semantics and over TCP, side by side.")
public final class Demo implements Callable<Integer> {
  /** The file that the block store serves by default: large, and part of every JDK. */
  static final Path FILE = Path.of(System.getProperty("java.home"), "lib", "modules");

  private static final int READERS = 4;
  private static final int DRAWERS = 8;
  private static final int TICKETS_EACH = 5_000;

  /**
   * The block and its copy, each in a buffer and in a region for clients, and a lease for each
   * reader.
   */
  private static final int REGISTERED_BLOCKS = 4 + READERS;

  private static final long ROOM_FOR_MESSAGES = 512L << 20;

  @Option(
      names = "--uri",
      defaultValue = "emulated://blockstore",
      description = "Where to serve; chooses the provider (default: ${DEFAULT-VALUE}).")
  private URI uri = URI.create("emulated://blockstore");

  @Option(
      names = "--file",
      description = "What to serve (default: lib/modules of the running JDK).")
  private Path file = FILE;

  @Option(
      names = "--sha256",
      description = "The digest that the file must have (default: computed from the file).")
  private @Nullable String sha256;

  @Option(
      names = "--window",
      converter = Count.class,
      defaultValue = "64",
      description = "Messages that may be under way unasked (default: ${DEFAULT-VALUE}).")
  private int window;

  @Option(
      names = "--poll",
      defaultValue = "ADAPTIVE",
      description = "How loops wait: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private PollMode pollMode = PollMode.ADAPTIVE;

  @Option(
      names = "--rounds",
      converter = Count.class,
      defaultValue = "3",
      description =
          "Measured rounds of each job; the table has medians (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--round-trips",
      converter = Count.class,
      defaultValue = "10000",
      description =
          "Requests in a round of list and stat, a quarter by gRPC (default: ${DEFAULT-VALUE}).")
  private int roundTrips;

  @Option(
      names = "--store",
      split = ",",
      defaultValue = "OWN,GRPC",
      description =
          "The store on a protocol of its own (a to e), behind gRPC (f, g), or both:"
              + " ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Set<Store> stores = EnumSet.allOf(Store.class);

  @Option(
      names = "--limit",
      converter = Count.class,
      defaultValue = "120",
      description = "Seconds after which a step has failed (default: ${DEFAULT-VALUE}).")
  private int limitSeconds;

  private final PrintStream out;
  private final boolean terminal;

  private enum Store {
    OWN,
    GRPC
  }

  private Demo(PrintStream out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /** Runs it and exits: 0 if every check passed, 1 if one failed, 2 for wrong usage. */
  public static void main(String[] args) {
    Program.main(Demo::new, args);
  }

  /**
   * Runs it.
   *
   * @param terminal whether {@code out} draws progress bars
   * @return the exit code
   */
  static int run(String[] args, PrintStream out, boolean terminal) {
    return Program.run(new Demo(out, terminal), out, args);
  }

  @Override
  public Integer call() throws IOException {
    out.println("Block store: " + file + " at " + uri);
    Duration limit = Duration.ofSeconds(limitSeconds);
    int loops = Runtime.getRuntime().availableProcessors();
    try (Report report = new Report(out, terminal)) {
      BlockInfo expected = expected(report.progress());
      try (RdmaTwin rdma = load(expected, loops, report.progress(), limit);
          Destinations destinations =
              new Destinations(rdma.clientMemory(), READERS, (int) rdma.block().info().length())) {
        report
            .checks()
            .checkEqual("digest of what the server loaded", expected, rdma.block().info());
        if (stores.contains(Store.OWN)) {
          runOwn(rdma, loops, expected, destinations, plan(limit), report);
        }
        if (stores.contains(Store.GRPC)) {
          runGrpc(rdma, expected, destinations, plan(limit), report);
        }
      }
      return report.conclude();
    }
  }

  private void runOwn(
      RdmaTwin rdma,
      int loops,
      BlockInfo expected,
      Destinations destinations,
      Jobs.Plan plan,
      Report report) {
    try (TcpTwin tcp =
        TcpTwin.start(rdma.block().share(), loops, PooledByteBufAllocator.DEFAULT, plan.limit())) {
      new Jobs(rdma, tcp, expected, destinations, plan, report).run();
    }
  }

  private void runGrpc(
      RdmaTwin store, BlockInfo expected, Destinations destinations, Jobs.Plan plan, Report report)
      throws IOException {
    try (GrpcRdmaTwin rdma = GrpcRdmaTwin.start(store, plan.limit());
        GrpcTcpTwin tcp = GrpcTcpTwin.start(store.block().share(), plan.limit())) {
      new GrpcJobs(rdma, tcp, expected, destinations, plan, report).run();
    }
  }

  /** Reads the file system, not the store. */
  private BlockInfo expected(Progress progress) throws IOException {
    long length = Files.size(file);
    try (Progress.Step step = progress.begin("digest of the file", length)) {
      Sha256 digest = sha256 == null ? Sha256.of(file) : Sha256.parse(sha256);
      step.advance(length);
      return new BlockInfo(String.valueOf(file.getFileName()), length, digest);
    }
  }

  private RdmaTwin load(BlockInfo expected, int loops, Progress progress, Duration limit)
      throws IOException {
    long registered = (READERS + REGISTERED_BLOCKS) * expected.length() + ROOM_FOR_MESSAGES;
    RdmaOptions options =
        RdmaOptions.builder()
            .loops(loops)
            .pollMode(pollMode)
            .window(window)
            .maxRegisteredBytes(Math.max(RdmaOptions.defaults().maxRegisteredBytes(), registered))
            .build();
    try (Progress.Step step = progress.begin("load into registered memory", expected.length())) {
      RdmaTwin twin = RdmaTwin.start(uri, options, file, limit);
      step.advance(expected.length());
      return twin;
    }
  }

  private Jobs.Plan plan(Duration limit) {
    return new Jobs.Plan(rounds, roundTrips, DRAWERS, TICKETS_EACH, window, limit);
  }
}
