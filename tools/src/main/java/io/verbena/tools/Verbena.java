// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import io.verbena.tools.datagrams.DatagramsCommand;
import io.verbena.tools.device.DeviceCommand;
import io.verbena.tools.device.DevicesCommand;
import io.verbena.tools.doctor.DoctorCommand;
import io.verbena.tools.perf.PerfCommand;
import io.verbena.tools.ping.PingCommand;
import io.verbena.tools.pingpong.PingpongCommand;
import io.verbena.tools.stat.StatCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code verbena}: the tools' command line. */
@Command(
    name = "verbena",
    header = "tools for RDMA, on every provider by URI",
    description = {
      "What people know from rdma-core and perftest, on emulated HCAs, on RNICs and on Soft-RoCE."
          + " `verbena COMMAND --help` shows the rest."
    },
    subcommands = {
      DevicesCommand.class,
      DeviceCommand.class,
      DoctorCommand.class,
      StatCommand.class,
      PingpongCommand.class,
      PerfCommand.class,
      PingCommand.class,
      DatagramsCommand.class,
      CaptureCommand.class,
      CompletionCommand.class,
    },
    footer = {
      "  verbena devices",
      "  verbena perf write bw --local",
      "  source <(verbena completion)"
    })
public final class Verbena implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  private Verbena() {}

  /** Runs a command and exits: with 0 if all went well, 1 if it failed, 2 for wrong usage. */
  public static void main(String[] arguments) {
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    System.exit(run(out, err, arguments));
  }

  /**
   * Runs a command.
   *
   * @param out gets the results
   * @param err gets failures, with advice
   * @return the exit code
   */
  public static int run(PrintWriter out, PrintWriter err, String... arguments) {
    CommandLine line = ManualPage.dressed(new CommandLine(new Verbena()));
    line.setOut(out).setErr(err);
    // The arguments after the file belong to another command.
    line.getSubcommands().get("capture").setStopAtPositional(true);
    line.setExecutionExceptionHandler(
        (failure, command, parsed) -> FailureReport.print(failure, err));
    line.setParameterExceptionHandler((wrong, unused) -> printUsageError(wrong, err));
    try {
      return line.execute(arguments);
    } finally {
      out.flush();
      err.flush();
    }
  }

  /** Prints the error below the manual page, where a terminal shows it. */
  private static int printUsageError(ParameterException wrong, PrintWriter err) {
    CommandLine command = wrong.getCommandLine();
    if (!UnmatchedArgumentException.printSuggestions(wrong, err)) {
      command.usage(err);
      err.println();
    }
    err.println("verbena: " + wrong.getMessage());
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  @Override
  public void run() {
    if (spec == null) {
      throw new IllegalStateException("verbena: not run by a command line");
    }
    throw new ParameterException(spec.commandLine(), "COMMAND: missing (expected: one of these)");
  }
}
