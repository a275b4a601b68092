// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.http;

import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.Count;
import io.verbena.samples.program.Figure;
import io.verbena.samples.program.Job;
import io.verbena.samples.program.Program;
import io.verbena.samples.program.Sample;
import io.verbena.samples.program.SampleServer;
import java.io.PrintStream;
import java.net.URI;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Serves HTTP by Reactor Netty and checks every answer that a client gets. */
@Command(name = "http", description = "Serves HTTP by Reactor Netty, over RDMA and over TCP.")
public final class Main extends Sample {
  @Option(
      names = "--gets",
      scope = ScopeType.INHERIT,
      converter = Count.class,
      defaultValue = "20000",
      description = "Small requests in a round (default: ${DEFAULT-VALUE}).")
  private int gets;

  @Option(
      names = "--pieces",
      scope = ScopeType.INHERIT,
      converter = Count.class,
      defaultValue = "16000",
      description = "Pieces of 64 KiB in the body that is posted (default: ${DEFAULT-VALUE}).")
  private int pieces;

  /**
   * @param terminal whether {@code out} draws progress bars
   */
  Main(PrintStream out, boolean terminal) {
    super("HTTP", URI.create("emulated://http"), out, terminal);
  }

  /** Runs it and exits: 0 if every check passed, 1 if one failed, 2 for wrong usage. */
  public static void main(String[] args) {
    Program.main(Main::new, args);
  }

  private static Transport transport(URI address) {
    return Addresses.isTcp(address) ? new OverTcp() : new OverRdma(address);
  }

  @Override
  protected SampleServer serve(URI address) {
    return GreetingServer.start(transport(address), address);
  }

  @Override
  protected List<Figure> run(URI server, Job job) {
    try (Transport transport = transport(server)) {
      return HttpRun.run(transport, Addresses.socket(server), gets, pieces, job);
    }
  }

  @Override
  protected long steps() {
    return 2L * (gets + pieces);
  }
}
