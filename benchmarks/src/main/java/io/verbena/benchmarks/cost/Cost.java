// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.work.Deadline;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs all jobs through each layer and through perftest, in turns, and prints a table of ratios.
 * Requires two nodes of one machine: this process runs on the near node and starts another process
 * on the far node.
 */
@Command(
    name = "cost",
    mixinStandardHelpOptions = true,
    description = "Measures what the layers of Java cost beside perftest.")
public final class Cost implements Callable<Integer> {
  private static final String PERFTEST = "perftest";
  private static final int BATCH = 200;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--near",
      required = true,
      defaultValue = "${env:VERBENA_NODE1}",
      paramLabel = "ADDRESS",
      description = "The node that connects; its device is rxe0.")
  private String near = "";

  @Option(
      names = "--far",
      required = true,
      defaultValue = "${env:VERBENA_NODE2}",
      paramLabel = "ADDRESS",
      description = "The node that listens; its device is rxe1.")
  private String far = "";

  @Option(
      names = "--repetitions",
      converter = Count.class,
      paramLabel = "N",
      description = "Turns of everybody (default: ${DEFAULT-VALUE}).")
  private int repetitions = 7;

  @Option(
      names = "--rounds",
      converter = Count.class,
      paramLabel = "N",
      description = "Round trips of a turn, and reads (default: ${DEFAULT-VALUE}).")
  private int rounds = 3000;

  @Option(
      names = "--writes",
      converter = Count.class,
      paramLabel = "N",
      description = "Writes of a turn (default: ${DEFAULT-VALUE}).")
  private int writes = 1000;

  @Option(
      names = "--warm-up",
      converter = Count.class,
      paramLabel = "N",
      description = "Seconds of warm-up for each layer and job (default: ${DEFAULT-VALUE}).")
  private int warmUpSeconds = 15;

  @Option(
      names = "--layers",
      split = ",",
      paramLabel = "LAYER",
      description = {
        "What is measured beside perftest (default: ${DEFAULT-VALUE}): ${COMPLETION-CANDIDATES}."
      })
  private List<Layer> layers = List.of(Layer.VERBS, Layer.REACTIVE, Layer.DISNI);

  private int port = 18_515;

  /** Runs the command and exits with its code; see {@code --help}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Cost()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    if (spec == null) {
      throw new IllegalStateException("cost: not run by a command line");
    }
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter progress = spec.commandLine().getErr();
    try (EndProcess passive = new EndProcess(List.of(), PassiveMain.class)) {
      for (Job job : Job.values()) {
        pin(passive, job);
        for (Layer layer : layers) {
          warmUp(passive, layer, job);
          progress.println("warm: " + layer.title() + ", " + job);
          progress.flush();
        }
      }
      Map<Job, Map<String, Samples>> samples = new EnumMap<>(Job.class);
      for (int i = 1; i <= repetitions; i++) {
        for (Job job : Job.values()) {
          pin(passive, job);
          Map<String, Double> figures = turn(passive, job);
          progress.println("turn " + i + " of " + repetitions + ", " + job + ": " + figures);
          progress.flush();
          Map<String, Samples> ofJob = samples.computeIfAbsent(job, j -> new LinkedHashMap<>());
          figures.forEach(
              (name, figure) -> ofJob.computeIfAbsent(name, n -> new Samples()).add(figure));
        }
      }
      out.println("JVM: " + Runtime.version() + ", turns: " + repetitions);
      samples.forEach((job, ofJob) -> out.print(CostTable.of(title(job), ofJob, PERFTEST)));
      out.flush();
    }
    return 0;
  }

  private static void pin(EndProcess passive, Job job) throws IOException, InterruptedException {
    Cpu.NEAR.pin(job, ProcessHandle.current().pid());
    Cpu.FAR.pin(job, passive.pid());
  }

  /** Runs the job once through perftest and each layer, and returns the figures by name. */
  private Map<String, Double> turn(EndProcess passive, Job job) throws Exception {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(PERFTEST, perftest(job));
    for (Layer layer : layers) {
      figures.put(layer.title(), run(passive, layer, job));
    }
    return figures;
  }

  private String title(Job job) {
    return switch (job) {
      case PING_PONG ->
          Job.MESSAGE + " B ping-pong: half a round trip, median of " + rounds + ", us";
      case READ -> Job.MESSAGE + " B RDMA READ: median of " + rounds + ", us";
      case WRITE -> "64 KiB RDMA WRITE, " + Job.DEPTH + " under way, " + writes + " times: MiB/s";
    };
  }

  private void warmUp(EndProcess passive, Layer layer, Job job) throws Exception {
    Deadline end = Deadline.in(Duration.ofSeconds(warmUpSeconds));
    try (Session session = new Session(passive, layer, job, address(layer.scheme()))) {
      do {
        session.warmUp(job, BATCH);
      } while (end.remainingNanos() > 0);
    }
  }

  private double run(EndProcess passive, Layer layer, Job job) throws Exception {
    try (Session session = new Session(passive, layer, job, address(layer.scheme()))) {
      // Warms up the queues, caches and page tables of this connection.
      session.warmUp(job, BATCH);
      return switch (job) {
        case PING_PONG -> session.roundTrips(rounds);
        case READ -> session.reads(rounds);
        case WRITE -> session.writes(writes);
      };
    }
  }

  private double perftest(Job job) throws Exception {
    Perftest perftest = new Perftest(address(ConnectionAddress.RXE));
    return switch (job) {
      case PING_PONG -> perftest.roundTrips(rounds);
      case READ -> perftest.reads(rounds);
      case WRITE -> perftest.writes(writes);
    };
  }

  private ConnectionAddress address(String scheme) {
    return new ConnectionAddress(scheme, near, far, port++);
  }
}
