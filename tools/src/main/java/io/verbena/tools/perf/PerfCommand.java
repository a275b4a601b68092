// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.LocalRun;
import io.verbena.tools.end.TestAddress;
import io.verbena.tools.end.TestOptions;
import io.verbena.tools.end.TestRun;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena perf}. */
@Command(
    name = "perf",
    header = "measure bandwidth and latency, as perftest",
    description = {
      "Without a host it is the server and waits for a client; with one it connects to the server"
          + " there. The other end may be the program of perftest: ib_send_bw, ib_write_lat, ...",
      "Give both ends the same test, -s or -a, -n or -D, -b, -c, -q and -r."
    },
    footer = {
      "  verbena perf write bw --local -a",
      "  verbena perf send bw --local -b -q 4",
      "  verbena perf send lat -d disni://10.0.0.2             # the server",
      "  verbena perf send lat -d disni://10.0.0.1 10.0.0.2    # its client"
    })
public final class PerfCommand implements Callable<Integer>, TestRun.Role {
  private static final int MAX_SIZE = 1 << 23;
  private static final int MIN_ITERATIONS = 5;
  private static final int MAX_ITERATIONS = 100_000_000;
  private static final int MAX_DEPTH = 16_384;
  private static final int MAX_PAIRS = 16_384;
  private static final int MAX_TIMEOUT = 31;
  private static final int DEFAULT_TIMEOUT = 14;

  /** The most messages for which the peak is computed, by comparing each with each. */
  private static final int MOST_WITH_PEAK = 20_000;

  /** The size above which each message has its own completion. */
  private static final int LARGE = 8192;

  @Mixin private final TestOptions options = new TestOptions();

  @Parameters(index = "0", paramLabel = "VERB", description = "send, write, read or atomic.")
  private Verb verb = Verb.SEND;

  @Parameters(index = "1", paramLabel = "WHAT", description = "bw or lat.")
  private Measure measure = Measure.BW;

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "HOST",
      description = "The server's host, or its URI.")
  private @Nullable String host;

  @Option(
      names = {"-a", "--all"},
      description = "Run sizes from 2 to 2^23, to the MTU with UD.")
  private boolean all;

  @Option(
      names = {"-A", "--atomic_type"},
      paramLabel = "TYPE",
      description = "CMP_AND_SWAP or FETCH_AND_ADD (default: ${DEFAULT-VALUE}).")
  private AtomicType atomic = AtomicType.FETCH_AND_ADD;

  @Option(
      names = {"-b", "--bidirectional"},
      description = "Both ends post; tell the sum of both directions (bw).")
  private boolean both;

  @Option(
      names = {"-c", "--connection"},
      paramLabel = "TYPE",
      description = "RC, UC (send, write) or UD (send) (default: ${DEFAULT-VALUE}).")
  private QueuePairType type = QueuePairType.RC;

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "SECONDS",
      description = "Run each size for so long, in place of -n.")
  private @Nullable Integer seconds;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep until something completes (default: poll); not for write.")
  private boolean events;

  @Option(
      names = {"-F", "--CPU-freq"},
      description = "Taken for perftest's sake: nothing here warns of the CPU's frequency.")
  boolean ignoresFrequency;

  @Option(
      names = {"-H", "--report-histogram"},
      description = "Print the percentiles of each size too, in microseconds.")
  private boolean histogram;

  @Option(
      names = {"-I", "--inline_size"},
      paramLabel = "BYTES",
      description = "Send messages of up to so many bytes inline (default: 0).")
  private int inline;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "256, 512, 1024, 2048 or 4096 (default: the port's).")
  private @Nullable Integer mtu;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "N",
      description = "Messages of each queue pair, at least 5 (default: 1000; 5000 for write bw).")
  private @Nullable Integer iterations;

  @Option(
      names = {"-N", "--noPeak"},
      description = "Do not look for the peak bandwidth, which is done up to 20000 messages.")
  private boolean noPeak;

  @Option(
      names = {"-o", "--outs"},
      paramLabel = "N",
      description = "READs and atomics under way at once (default: the device's, at most 128).")
  private @Nullable Integer outstanding;

  @Option(
      names = {"-q", "--qp"},
      paramLabel = "N",
      description = "Queue pairs (default: ${DEFAULT-VALUE}; bw).")
  private int pairs = 1;

  @Option(
      names = {"-Q", "--cq-mod"},
      paramLabel = "N",
      description = "A completion for each N messages (default: 100; 1 above 8 KiB).")
  private @Nullable Integer moderation;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "N",
      description = "Receives of each queue pair, for send (default: ${DEFAULT-VALUE}).")
  private int rxDepth = 512;

  @Option(
      names = {"-R", "--rdma_cm"},
      description = {
        "Connect the queue pairs with the connection manager, and meet over one; RC only. It"
            + " chooses MTU, timeout and GID."
      })
  private boolean managed;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "Size of a message (default: 65536 for bw, 2 for lat; 8 for atomic).")
  private @Nullable Integer size;

  @Option(
      names = {"-t", "--tx-depth"},
      paramLabel = "N",
      description = "Messages under way on each queue pair (default: 128 for bw, 1 for lat).")
  private @Nullable Integer txDepth;

  @Option(
      names = {"-u", "--qp-timeout"},
      paramLabel = "CODE",
      description = "Wait 4 us * 2^CODE for an acknowledgement (default: 14).")
  private @Nullable Integer timeout;

  @Option(
      names = {"-x", "--gid-index"},
      paramLabel = "INDEX",
      description =
          "The local port's GID to send from (default: that of the device's address; on InfiniBand"
              + " none, as LIDs lead there).")
  private @Nullable Integer gid;

  @Option(names = "--report_gbits", description = "Tell bandwidth in Gb/s (default: MiB/s).")
  private boolean gbits;

  @Option(names = "--csv", description = "Print lines of comma-separated values, and no table.")
  private boolean csv;

  @Option(names = "--json", description = "Print a JSON object, and no table.")
  private boolean json;

  private @Nullable TestAddress address;
  private @Nullable PerfPlan plan;

  @Override
  public Integer call() throws Exception {
    TestAddress here = options.address(host);
    address = here;
    plan = plan(here);
    if (!managed || isEmulated(here.device())) {
      options.refuseLocalPort();
    }
    if (csv && json) {
      throw options.wrong("--csv: with --json (expected: one of them)");
    }
    if (!managed) {
      TestRun.run(here, options.isLocal(), this);
    } else if (options.isLocal()) {
      runManagedEnds();
    } else {
      boolean client = here.server() != null;
      managedEnd(client, true, client ? () -> {} : this::printWaiting);
    }
    return 0;
  }

  @Override
  public void printWaiting() {
    if (!csv && !json) {
      options.out().println("* Waiting for client to connect... *");
      options.out().flush();
    }
  }

  private void runManagedEnds() throws ToolFailure, InterruptedException {
    CountDownLatch listening = new CountDownLatch(1);
    LocalRun.run(
        () -> {
          try {
            managedEnd(false, false, listening::countDown);
          } finally {
            // The client's connect fails.
            listening.countDown();
          }
        },
        () -> {
          listening.await();
          managedEnd(true, true, () -> {});
        },
        options.limit());
  }

  private void managedEnd(boolean client, boolean prints, Runnable listening)
      throws ToolFailure, InterruptedException {
    try {
      run(null, client, prints, listening);
    } catch (IOException e) {
      throw new ToolFailure(e.getMessage(), "look at the output of the other end");
    }
  }

  private PerfPlan plan(TestAddress here) {
    boolean bandwidth = measure == Measure.BW;
    checkType();
    checkCombinations(bandwidth);
    int bytes = all ? MAX_SIZE : size != null ? size : defaultSize(bandwidth);
    if (all && type == QueuePairType.UD) {
      bytes = Mtu.MTU_4096.bytes();
    }
    if (verb == Verb.ATOMIC && bytes != Long.BYTES) {
      throw options.wrong("-s: " + bytes + " (expected: 8, as atomics have)");
    }
    int count =
        seconds != null
            ? 0
            : iterations != null ? iterations : bandwidth && verb == Verb.WRITE ? 5000 : 1000;
    if (seconds != null && iterations != null) {
      throw options.wrong("-D: with -n (expected: one of them)");
    }
    if (seconds != null) {
      options.range("-D", seconds, 1, 86_400);
    } else {
      options.range("-n", count, MIN_ITERATIONS, MAX_ITERATIONS);
    }
    int depth = txDepth != null ? txDepth : bandwidth ? 128 : 1;
    int every = moderation != null ? moderation : bytes > LARGE || !bandwidth ? 1 : 100;
    return new PerfPlan(
        verb,
        measure,
        type,
        atomic,
        all,
        options.range("-s", bytes, 1, MAX_SIZE),
        count,
        Duration.ofSeconds(seconds == null ? 0 : seconds),
        options.range("-q", pairs, 1, MAX_PAIRS),
        both,
        events,
        managed ? meeting(here) : null,
        options.range("-t", depth, 1, MAX_DEPTH),
        options.range("-r", rxDepth, 1, MAX_DEPTH),
        options.range("-Q", every, 1, MAX_DEPTH),
        outstanding == null ? null : Integer.valueOf(options.range("-o", outstanding, 1, 255)),
        options.range("-I", inline, 0, MAX_SIZE),
        mtu == null ? null : options.mtu(mtu),
        gid,
        options.range("-u", timeout == null ? DEFAULT_TIMEOUT : timeout, 0, MAX_TIMEOUT),
        !noPeak && bandwidth && seconds == null && (long) count * pairs <= MOST_WITH_PEAK,
        options.limit());
  }

  private int defaultSize(boolean bandwidth) {
    if (verb == Verb.ATOMIC) {
      return Long.BYTES;
    }
    if (!bandwidth) {
      return 2;
    }
    return type == QueuePairType.UD ? 1024 : 65_536;
  }

  private void checkType() {
    boolean fits =
        switch (type) {
          case RC -> true;
          case UC -> !verb.isFetch();
          case UD -> verb == Verb.SEND;
        };
    if (!fits) {
      throw options.wrong("-c: " + type + " (expected: RC; UC for send and write; UD for send)");
    }
  }

  /** Refuses options that perftest refuses, or silently measures in one direction only. */
  private void checkCombinations(boolean bandwidth) {
    if (both && !bandwidth) {
      throw options.wrong("-b: with lat (expected: bw)");
    }
    if (pairs != 1 && !bandwidth) {
      throw options.wrong("-q: " + pairs + " (expected: 1, for lat)");
    }
    if (events && verb == Verb.WRITE) {
      throw options.wrong("-e: with write (expected: send, read or atomic)");
    }
    if (events && seconds != null) {
      throw options.wrong("-e: with -D (expected: one of them)");
    }
    if (all && (verb == Verb.ATOMIC || size != null)) {
      throw options.wrong(
          verb == Verb.ATOMIC
              ? "-a: with atomic (expected: send, write or read)"
              : "-a: with -s (expected: one of them)");
    }
    if (managed && type != QueuePairType.RC) {
      throw options.wrong("-R: with -c " + type + " (expected: RC)");
    }
    String chosen = mtu != null ? "-m" : timeout != null ? "-u" : gid != null ? "-x" : null;
    if (managed && chosen != null) {
      throw options.wrong("-R: with " + chosen + " (expected: one of them)");
    }
    if (both && verb == Verb.SEND && seconds != null) {
      throw options.wrong("-D: with send bw -b (expected: -n)");
    }
  }

  private static boolean isEmulated(URI device) {
    return device.getScheme().equals("emulated");
  }

  /** The address of the server's connection manager, as this end's device reaches it. */
  private URI meeting(TestAddress here) {
    URI device = here.device();
    if (isEmulated(device)) {
      return device;
    }
    String server = here.server() == null ? device.getHost() : here.server();
    String query = device.getQuery();
    if (!server.equals(device.getHost()) && (query == null || !query.contains("source="))) {
      query = (query == null ? "" : query + "&") + "source=" + device.getHost();
    }
    try {
      return new URI(device.getScheme(), null, server, here.port(), null, query, null);
    } catch (URISyntaxException e) {
      throw options.wrong("server: " + server + ": " + e.getMessage());
    }
  }

  @Override
  public void run(Socket socket, boolean client, boolean prints)
      throws IOException, ToolFailure, InterruptedException {
    run(socket, client, prints, () -> {});
  }

  private void run(@Nullable Socket socket, boolean client, boolean prints, Runnable listening)
      throws IOException, ToolFailure, InterruptedException {
    TestAddress here = Objects.requireNonNull(address, "place");
    PerfPlan what = Objects.requireNonNull(plan, "plan");
    new PerfRun(what, here.device(), client, gbits, prints ? output() : null)
        .run(socket, listening);
  }

  private Output output() {
    PrintWriter out = options.out();
    return csv ? new CsvOutput(out) : json ? new JsonOutput(out) : new TableOutput(out, histogram);
  }
}
