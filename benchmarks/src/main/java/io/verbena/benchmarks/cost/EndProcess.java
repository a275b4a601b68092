// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process that executes orders line by line, started with the same flags as this JVM. */
final class EndProcess implements AutoCloseable {
  private final Process process;
  private final PrintWriter orders;
  private final BufferedReader answers;

  /**
   * Starts the process.
   *
   * @param before the prefix of the command, which selects a host or CPU
   * @param main the program, which reads orders and writes answers
   */
  EndProcess(List<String> before, Class<?> main) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(main.getName());
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    orders = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
    answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Returns the process identifier. */
  long pid() {
    return process.pid();
  }

  /** Sends an order; {@link #answer} reads its answer. */
  void order(String order) {
    orders.println(order);
  }

  /** Reads the answer to the last order. */
  String answer() throws IOException {
    String answer = answers.readLine();
    if (answer == null) {
      throw new IOException("the other process has ended; its error is above");
    }
    return answer;
  }

  /** Sends an order and waits for the answer. */
  String ask(String order) throws IOException {
    order(order);
    return answer();
  }

  @Override
  public void close() {
    orders.close();
    process.destroy();
  }
}
