// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import io.rsocket.core.RSocketServer;
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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/**
 * Streams ticks by RSocket to a fast and to a slow subscriber, checks every one, and prints how
 * fast they came and, in one process, how far the sender was ahead.
 */
@Command(
    name = "rsocket",
    description = "Streams ticks by RSocket to a slow subscriber, over RDMA and over TCP.")
public final class Main extends Sample {
  @Option(
      names = "--fast",
      scope = ScopeType.INHERIT,
      converter = Count.class,
      defaultValue = "500000",
      description = "Ticks to the fast subscriber (default: ${DEFAULT-VALUE}).")
  private int fast;

  @Option(
      names = "--slow",
      scope = ScopeType.INHERIT,
      converter = Count.class,
      defaultValue = "16000",
      description = "Ticks to the slow subscriber (default: ${DEFAULT-VALUE}).")
  private int slow;

  /** The ticks that are served in this process, if any are. */
  private @Nullable Ticks served;

  /**
   * @param terminal whether {@code out} draws progress bars
   */
  Main(PrintStream out, boolean terminal) {
    super("ticks", URI.create("emulated://ticks"), out, terminal);
  }

  /** Runs it and exits: 0 if every check passed, 1 if one failed, 2 for wrong usage. */
  public static void main(String[] args) {
    Program.main(Main::new, args);
  }

  private static Transport transport(URI address) {
    return Addresses.isTcp(address)
        ? new OverTcp(Addresses.socket(address))
        : new OverRdma(address);
  }

  @Override
  protected SampleServer serve(URI address) {
    Ticks ticks = served == null ? new Ticks() : served;
    served = ticks;
    return transport(address).serve(RSocketServer.create(ticks));
  }

  @Override
  protected List<Figure> run(URI server, Job job) {
    return TickRun.run(transport(server), served, fast, slow, job).figures();
  }

  @Override
  protected long steps() {
    return 2L * fast + slow;
  }
}
