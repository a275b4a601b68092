// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import io.verbena.samples.report.Progress;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;

/** Runs commands and servers as programs. */
public final class Program {
  private Program() {}

  /** Creates a command that prints to a stream. */
  @FunctionalInterface
  public interface Factory {
    /**
     * Creates the command.
     *
     * @param terminal whether {@code out} draws progress bars
     */
    Callable<Integer> create(PrintStream out, boolean terminal);
  }

  /** Runs a command on standard output and exits with its exit code: see {@link #run}. */
  public static void main(Factory command, String... args) {
    System.exit(run(command.create(System.out, Progress.onTerminal()), System.out, args));
  }

  /**
   * Runs a command, and prints a failure to the output of its results.
   *
   * @param command an object with picocli's annotations that returns its exit code
   * @param out gets its help and its failure
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
              if (line.getCommandName().equals("client")) {
                String sample = line.getParent().getCommandName();
                out.println(
                    "-> start the server first, at the same address: bin/sample "
                        + sample
                        + " server ADDRESS");
              }
              return 1;
            })
        .execute(args);
  }

  /**
   * Waits until the process is interrupted, and then closes a running server.
   *
   * @param ready printed once an interrupt will close the server
   */
  public static void keep(SampleServer server, String ready, PrintStream out)
      throws InterruptedException {
    CountDownLatch interrupted = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  interrupted.countDown();
                  server.close();
                }));
    out.println(ready);
    interrupted.await();
  }
}
