package io.verbena.samples.grpc;

import io.verbena.samples.report.Program;
import io.verbena.samples.report.Progress;
import io.verbena.samples.report.Report;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Serves quotes by gRPC over RDMA and over TCP, checks every one, and prints what both took. */
@Command(
    name = "grpc",
    mixinStandardHelpOptions = true,
    description = "Serves quotes by gRPC, over RDMA and over TCP.")
public final class Main implements Callable<Integer> {
  @Option(
      names = "--uri",
      defaultValue = "emulated://quotes",
      description = "The HCA (default: ${DEFAULT-VALUE}).")
  private URI uri = URI.create("emulated://quotes");

  @Option(
      names = "--calls",
      defaultValue = "20000",
      description = "Unary calls in a round (default: ${DEFAULT-VALUE}).")
  private int calls;

  @Option(
      names = "--quotes",
      defaultValue = "200000",
      description = "Messages of a stream in a round (default: ${DEFAULT-VALUE}).")
  private int quotes;

  private final PrintStream out;
  private final boolean terminal;

  /**
   * @param terminal whether {@code out} draws progress bars
   */
  Main(PrintStream out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /** Runs it and exits: 0 if every check passed, 1 if one failed, 2 for wrong usage. */
  public static void main(String[] args) {
    System.exit(Program.run(new Main(System.out, Progress.onTerminal()), System.out, args));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    try (Report report = new Report(out, terminal);
        OverRdma rdma = new OverRdma(uri);
        OverTcp tcp = new OverTcp()) {
      QuoteRun.Result overTcp = run(tcp, report);
      QuoteRun.Result overRdma = run(rdma, report);
      report
          .table()
          .add("unary calls/s, one at a time", overRdma.callsPerSecond(), overTcp.callsPerSecond());
      report
          .table()
          .add("quotes/s of a stream", overRdma.quotesPerSecond(), overTcp.quotesPerSecond());
      return report.conclude();
    }
  }

  private QuoteRun.Result run(Transport transport, Report report)
      throws IOException, InterruptedException {
    try (Progress.Step step =
        report.progress().begin("quotes over " + transport.name(), 2L * (calls + quotes))) {
      return QuoteRun.run(transport, calls, quotes, report.checks(), step);
    }
  }
}
