// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import io.verbena.samples.report.Report;
import java.io.PrintStream;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;

/**
 * A sample's command line. Without a subcommand it runs server and client in one process, over RDMA
 * and over TCP, and prints the results of both; {@code server} and {@code client} run one end each,
 * at an address of either kind.
 */
@Command(mixinStandardHelpOptions = true)
public abstract class Sample implements Callable<Integer> {
  private static final URI FREE_TCP_PORT = URI.create("tcp://localhost:0");

  private final String subject;
  private final PrintStream out;
  private final boolean terminal;

  @Option(
      names = "--uri",
      description = "Where to serve over RDMA; chooses the HCA (default: ${DEFAULT-VALUE}).")
  private URI uri;

  @Option(
      names = "--limit",
      scope = ScopeType.INHERIT,
      converter = Count.class,
      defaultValue = "60",
      description = "Seconds after which a step has failed (default: ${DEFAULT-VALUE}).")
  private int limitSeconds;

  /**
   * @param subject the name of the data, for the display of progress
   * @param uri the default address for RDMA
   * @param terminal whether {@code out} draws progress bars
   */
  protected Sample(String subject, URI uri, PrintStream out, boolean terminal) {
    this.subject = subject;
    this.uri = uri;
    this.out = out;
    this.terminal = terminal;
  }

  /** Starts the server at an address; without a port, or with 0, it uses a free one. */
  protected abstract SampleServer serve(URI address) throws Exception;

  /**
   * Does the client's job and checks every answer.
   *
   * @return the results: the same figures in the same order for each transport
   */
  protected abstract List<Figure> run(URI server, Job job) throws Exception;

  /** Returns the number of steps by which {@link #run} advances. */
  protected abstract long steps();

  @Override
  public final Integer call() throws Exception {
    try (Report report = new Report(out, terminal);
        SampleServer rdma = serve(uri);
        SampleServer tcp = serve(FREE_TCP_PORT)) {
      List<Figure> overTcp = run(tcp.address(), report);
      List<Figure> overRdma = run(rdma.address(), report);
      for (int i = 0; i < overRdma.size(); i++) {
        Figure figure = overRdma.get(i);
        report.table().add(figure.what(), figure.value(), overTcp.get(i).value());
      }
      return report.conclude();
    }
  }

  @Command(
      name = "server",
      mixinStandardHelpOptions = true,
      description = "Runs the server alone, until it is interrupted.")
  public final int server(
      @Parameters(
              arity = "0..1",
              paramLabel = "ADDRESS",
              defaultValue = Addresses.DEFAULT,
              description =
                  "Where to serve: the URI of a provider, or tcp://host:port (default:"
                      + " ${DEFAULT-VALUE}).")
          URI address)
      throws Exception {
    SampleServer server = serve(address);
    Program.keep(server, "serving " + subject + " at " + server.address(), out);
    return 0;
  }

  @Command(
      name = "client",
      mixinStandardHelpOptions = true,
      description = "Runs the client alone, against a server in another process.")
  public final int client(
      @Parameters(
              arity = "0..1",
              paramLabel = "ADDRESS",
              defaultValue = Addresses.DEFAULT,
              description = "Where the server is (default: ${DEFAULT-VALUE}).")
          URI address)
      throws Exception {
    try (Report report = new Report(out, terminal, Addresses.transport(address))) {
      run(address, report).forEach(figure -> report.table().add(figure.what(), figure.value()));
      return report.conclude();
    }
  }

  private List<Figure> run(URI server, Report report) throws Exception {
    String transport = Addresses.transport(server);
    try (var step = report.progress().begin(subject + " over " + transport, steps())) {
      return run(
          server, new Job(transport, report.checks(), step, Duration.ofSeconds(limitSeconds)));
    }
  }
}
