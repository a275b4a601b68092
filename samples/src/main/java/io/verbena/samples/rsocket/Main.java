package io.verbena.samples.rsocket;

import io.rsocket.core.RSocketServer;
import io.verbena.samples.report.Program;
import io.verbena.samples.report.Progress;
import io.verbena.samples.report.Report;
import io.verbena.samples.report.ResultTable;
import java.io.PrintStream;
import java.net.URI;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Streams ticks by RSocket to a fast and to a slow subscriber, over RDMA and over TCP, checks every
 * one, and prints how fast they came and how far the sender was ahead.
 */
@Command(
    name = "rsocket",
    mixinStandardHelpOptions = true,
    description = "Streams ticks by RSocket to a slow subscriber, over RDMA and over TCP.")
public final class Main implements Callable<Integer> {
  @Option(
      names = "--uri",
      defaultValue = "emulated://ticks",
      description = "Where to serve; chooses the HCA (default: ${DEFAULT-VALUE}).")
  private URI uri = URI.create("emulated://ticks");

  @Option(
      names = "--fast",
      defaultValue = "500000",
      description = "Ticks to the fast subscriber (default: ${DEFAULT-VALUE}).")
  private int fast;

  @Option(
      names = "--slow",
      defaultValue = "16000",
      description = "Ticks to the slow subscriber (default: ${DEFAULT-VALUE}).")
  private int slow;

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
    Ticks ticks = new Ticks();
    RSocketServer server = RSocketServer.create(ticks);
    try (Report report = new Report(out, terminal);
        OverRdma rdma = new OverRdma(server, uri);
        OverTcp tcp = new OverTcp(server)) {
      TickRun.Result overTcp = run(tcp, ticks, report);
      TickRun.Result overRdma = run(rdma, ticks, report);
      ResultTable table = report.table();
      table.add("ticks/s to one that does not rest", overRdma.fast(), overTcp.fast());
      table.add("ticks/s to one that rests", overRdma.slow(), overTcp.slow());
      table.add(
          "    most ticks that the sender was ahead of it (" + TickRun.RATE + ")",
          (double) overRdma.lead(),
          (double) overTcp.lead());
      return report.conclude();
    }
  }

  private TickRun.Result run(Transport transport, Ticks ticks, Report report) {
    try (Progress.Step step =
        report.progress().begin("ticks over " + transport.name(), 2L * fast + slow)) {
      return TickRun.run(transport, ticks, fast, slow, report.checks(), step);
    }
  }
}
