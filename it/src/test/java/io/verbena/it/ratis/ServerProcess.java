// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import io.verbena.it.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

/** The process of a {@link RegisterServer}, or the last one that it was. Closing kills it. */
final class ServerProcess implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private List<String> line;
  private Program program;

  private ServerProcess(List<String> line) throws IOException {
    this.line = line;
    program = Program.start(line);
  }

  /** Starts a server by this command line; it does not serve yet. */
  static ServerProcess start(List<String> line) throws IOException {
    return new ServerProcess(line);
  }

  void awaitReady() throws IOException {
    program.awaitOutput(RegisterServer.READY);
  }

  String output() {
    return outputOf(program);
  }

  /** Returns what a program has written so far. */
  static String outputOf(Program program) {
    try {
      return program.output();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void kill() {
    program.kill();
  }

  /** Ends it by SIGTERM, upon which it closes itself. */
  void terminate() throws IOException, InterruptedException {
    signal("TERM");
    program.exitCode(LIMIT);
  }

  void signal(String name) throws IOException, InterruptedException {
    Program.run("kill", "-" + name, Long.toString(program.pid()));
  }

  /** Starts it again, after its end, and waits until it serves. */
  void restart() throws IOException {
    program.close();
    program = Program.start(line);
    awaitReady();
  }

  /** As {@link #restart()}, by another command line from now on. */
  void restart(List<String> other) throws IOException {
    line = other;
    restart();
  }

  @Override
  public void close() throws IOException {
    program.close();
  }
}
