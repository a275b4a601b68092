// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import io.verbena.tools.end.CommandContext;
import io.verbena.tools.end.ToolFailure;
import java.io.PrintWriter;
import java.net.URI;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena stat [PID|URI]}. */
@Command(
    name = "stat",
    header = "tell what queue pairs do and what a device counts, as rdma statistic",
    description = {
      "With the PID of a program on Verbena that runs on this machine as the same user, prints its"
          + " queue pairs: a line for each, once, and again with --count. What the provider of a"
          + " queue pair does not count is a dash. The counts are since the queue pair was made."
          + " Nothing has to be prepared in the program; it starts its JVM's local management"
          + " agent when it is asked for the first time, as for jconsole.",
      "",
      "  lqpn, rqpn   the queue pair's number, and its peer's",
      "  user         reactor, netty; a dash for a program on the verbs",
      "  sends, recvs work requests that are done",
      "  sq, rq       those that hold a slot now, and how many may; of a shared queue a dash",
      "  scq, rcq     completions that wait to be polled in the completion queues of its sends and"
          + " receives, of whichever queue pair, and how many may",
      "  rnr_sent, rnr_recv, retrans",
      "               messages that found no receive here, and at the peer; retransmissions",
      "  credits      what the peer has granted and is not used",
      "",
      "Without an argument, lists the programs that have queue pairs, as jps.",
      "",
      "With a URI, prints what its device has counted, for all programs that use it: a line now,"
          + " and more with --count. What it does not count has no column. Emulated HCAs count"
          + " within one JVM, so that this shows only those that others can reach."
    },
    footer = {
      "  verbena stat",
      "  verbena stat 4711 -i 2 -n 30",
      "  verbena stat disni://10.0.0.1 -i 2 -n 30"
    })
public final class StatCommand implements Callable<Integer> {
  @Mixin private final CommandContext context = new CommandContext();

  @Parameters(
      paramLabel = "PID|URI",
      arity = "0..1",
      description = "A process, or an address that a device has or reaches.")
  private @Nullable String subject;

  @Option(
      names = {"-i", "--interval"},
      paramLabel = "SECONDS",
      description = "Between two lines (default: ${DEFAULT-VALUE}).")
  private int interval = 1;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "How often (default: ${DEFAULT-VALUE}).")
  private int count = 1;

  @Option(
      names = "--json",
      description = "With a PID: an object for each line, with all that is counted.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException, ToolFailure {
    String asked = subject;
    Intervals intervals =
        new Intervals(context.atLeast("-i", interval, 1), context.atLeast("-n", count, 1));
    boolean process = asked != null && asked.matches("\\d+");
    if (json && !process) {
      throw context.wrong("--json: without a PID (expected: with one)");
    }
    PrintWriter out = context.out();
    if (asked == null) {
      return ProgramList.list(out, context.err()) ? 0 : 1;
    }
    if (process) {
      queuePairs(pid(asked), json ? new QueuePairJson(out) : new QueuePairTable(out), intervals);
    } else {
      DeviceTable.print(uri(asked), out, intervals);
    }
    return 0;
  }

  private static void queuePairs(long pid, QueuePairOutput output, Intervals intervals)
      throws InterruptedException, ToolFailure {
    try (RunningProgram program = RunningProgram.attach(pid)) {
      program.requireVerbena();
      intervals.each(() -> output.print(program.queuePairs()));
    }
  }

  private long pid(String asked) {
    try {
      return Integer.parseInt(asked);
    } catch (NumberFormatException e) {
      throw context.wrong("PID: " + asked + " (expected: <= 2147483647)");
    }
  }

  private URI uri(String asked) {
    try {
      return URI.create(asked);
    } catch (IllegalArgumentException e) {
      throw context.wrong("PID|URI: " + e.getMessage());
    }
  }
}
