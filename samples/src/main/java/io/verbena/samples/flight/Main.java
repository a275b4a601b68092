// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

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

/** Serves a table by Arrow Flight and checks every value at both ends. */
@Command(name = "flight", description = "Serves a table by Arrow Flight, over RDMA and over TCP.")
public final class Main extends Sample {
  @Option(
      names = "--rows",
      scope = ScopeType.INHERIT,
      converter = Count.class,
      defaultValue = "4000000",
      description = "Rows that a round fetches, and sends (default: ${DEFAULT-VALUE}).")
  private int rows;

  /**
   * @param terminal whether {@code out} draws progress bars
   */
  Main(PrintStream out, boolean terminal) {
    super("rows", URI.create("emulated://rows"), out, terminal);
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
    return TableServer.start(transport(address), address);
  }

  @Override
  protected List<Figure> run(URI server, Job job) throws Exception {
    try (Transport transport = transport(server)) {
      return TableRun.run(transport, Addresses.socket(server), rows, job);
    }
  }

  @Override
  protected long steps() {
    return 4L * rows;
  }
}
