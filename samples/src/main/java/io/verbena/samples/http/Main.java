package io.verbena.samples.http;

import io.verbena.samples.report.Program;
import io.verbena.samples.report.Progress;
import io.verbena.samples.report.Report;
import java.io.PrintStream;
import java.net.URI;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Serves HTTP over RDMA and over TCP, checks every answer, and prints what both took. */
@Command(
    name = "http",
    mixinStandardHelpOptions = true,
    description = "Serves HTTP by Reactor Netty, over RDMA and over TCP.")
public final class Main implements Callable<Integer> {
  @Option(
      names = "--uri",
      defaultValue = "emulated://http",
      description = "The HCA (default: ${DEFAULT-VALUE}).")
  private URI uri = URI.create("emulated://http");

  @Option(
      names = "--gets",
      defaultValue = "20000",
      description = "Small requests in a round (default: ${DEFAULT-VALUE}).")
  private int gets;

  @Option(
      names = "--pieces",
      defaultValue = "16000",
      description = "Pieces of 64 KiB in the body that is posted (default: ${DEFAULT-VALUE}).")
  private int pieces;

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
  public Integer call() {
    try (Report report = new Report(out, terminal);
        OverRdma rdma = new OverRdma(uri);
        OverTcp tcp = new OverTcp()) {
      HttpRun.Result overTcp = run(tcp, report);
      HttpRun.Result overRdma = run(rdma, report);
      report
          .table()
          .add("GET, one at a time: requests/s", overRdma.getsPerSecond(), overTcp.getsPerSecond());
      report
          .table()
          .add(
              "POST, one long body: MB/s",
              overRdma.megabytesPerSecond(),
              overTcp.megabytesPerSecond());
      return report.conclude();
    }
  }

  private HttpRun.Result run(Transport transport, Report report) {
    try (Progress.Step step =
        report.progress().begin("HTTP over " + transport.name(), 2L * (gets + pieces))) {
      return HttpRun.run(transport, gets, pieces, report.checks(), step);
    }
  }
}
