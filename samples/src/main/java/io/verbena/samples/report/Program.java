package io.verbena.samples.report;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine;

/** Runs a command, whose failure is shown where its results would be. */
public final class Program {
  private Program() {}

  /**
   * Runs it.
   *
   * @param command with picocli's annotations; answers its exit code
   * @param out gets its help and what it fails with
   * @return the exit code: the command's, 1 if it failed, 2 for wrong usage
   */
  public static int run(Callable<Integer> command, PrintStream out, String... args) {
    PrintWriter writer = new PrintWriter(out, true, StandardCharsets.UTF_8);
    return new CommandLine(command)
        .setOut(writer)
        .setErr(writer)
        .setExecutionExceptionHandler(
            (failure, line, parsed) -> {
              out.println();
              out.println("FAILED: " + failure);
              failure.printStackTrace(out);
              return 1;
            })
        .execute(args);
  }
}
