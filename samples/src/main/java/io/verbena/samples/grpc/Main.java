// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.Count;
import io.verbena.samples.program.Figure;
import io.verbena.samples.program.Job;
import io.verbena.samples.program.Program;
import io.verbena.samples.program.Sample;
import io.verbena.samples.program.SampleServer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Serves quotes by gRPC and checks every one that a client gets. */
@Command(name = "grpc", description = "Serves quotes by gRPC, over RDMA and over TCP.")
public final class Main extends Sample {
  @Option(
      names = "--calls",
      scope = ScopeType.INHERIT,
      converter = Count.class,
      defaultValue = "20000",
      description = "Unary calls in a round (default: ${DEFAULT-VALUE}).")
  private int calls;

  @Option(
      names = "--quotes",
      scope = ScopeType.INHERIT,
      converter = Count.class,
      defaultValue = "200000",
      description = "Messages of a stream in a round (default: ${DEFAULT-VALUE}).")
  private int quotes;

  /**
   * @param terminal whether {@code out} draws progress bars
   */
  Main(PrintStream out, boolean terminal) {
    super("quotes", URI.create("emulated://quotes"), out, terminal);
  }

  /** Runs it and exits: 0 if every check passed, 1 if one failed, 2 for wrong usage. */
  public static void main(String[] args) {
    Program.main(Main::new, args);
  }

  private static Transport transport(URI address) {
    return Addresses.isTcp(address) ? new OverTcp() : new OverRdma(address);
  }

  @Override
  protected SampleServer serve(URI address) throws IOException {
    return QuoteServer.start(transport(address), address);
  }

  @Override
  protected List<Figure> run(URI server, Job job) throws InterruptedException {
    try (Transport transport = transport(server)) {
      return QuoteRun.run(transport, Addresses.socket(server), calls, quotes, job);
    }
  }

  @Override
  protected long steps() {
    return 2L * (calls + quotes);
  }
}
