// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import io.verbena.it.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

/** The current or last process of a {@link RegisterServer}. Closing kills the process. */
final class ServerProcess implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private List<String> line;
  private Program program;

  private ServerProcess(List<String> line) throws IOException {
    this.line = line;
    program = Program.start(line);
  }

  /** Starts a server with this command line; the server may not serve yet. */
  static ServerProcess start(List<String> line) throws IOException {
    return new ServerProcess(line);
  }

  void awaitReady() throws IOException {
    program.awaitOutput(RegisterServer.READY);
  }

  String output() {
    return outputOf(program);
  }

  /** Returns the output of a program so far. */
  static String outputOf(Program program) {
    try {
      return program.output();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has servers and a client print the stacks of their threads; does not wait. */
  static void printThreads(List<ServerProcess> servers, Program client)
      throws IOException, InterruptedException {
    for (ServerProcess each : servers) {
      each.program.printThreads();
    }
    client.printThreads();
  }

  void kill() {
    program.kill();
  }

  /** Ends the server with SIGTERM, on which the server closes itself. */
  void terminate() throws IOException, InterruptedException {
    signal("TERM");
    program.exitCode(LIMIT);
  }

  void signal(String name) throws IOException, InterruptedException {
    Program.run("kill", "-" + name, Long.toString(program.pid()));
  }

  /** Restarts the server, after its end, and waits until it serves. */
  void restart() throws IOException {
    program.close();
    program = Program.start(line);
    awaitReady();
  }

  /** Restarts the server with another command line, which later restarts use, too. */
  void restart(List<String> other) throws IOException {
    line = other;
    restart();
  }

  @Override
  public void close() throws IOException {
    program.close();
  }
}
