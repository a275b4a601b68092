package io.verbena.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of the system while it runs, with its output in a file. Closing kills it. */
final class Program implements AutoCloseable {
  private final List<String> line;
  private final Path file;
  private final Process process;

  private Program(List<String> line) throws IOException {
    this.line = line;
    this.file = Files.createTempFile("program", ".out");
    this.process =
        new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(file.toFile()).start();
    process.getOutputStream().close();
  }

  static Program start(String... line) throws IOException {
    return new Program(List.of(line));
  }

  /** Runs the program to its end, which has to be a good one, and answers its output. */
  static String run(String... line) throws IOException, InterruptedException {
    try (var program = start(line)) {
      return program.succeed(Duration.ofMinutes(2));
    }
  }

  /** Waits for the end, which has to be a good one and within the limit; answers the output. */
  String succeed(Duration limit) throws IOException, InterruptedException {
    boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(ended).as("%s ends within %s; its output: %s", line, limit, output()).isTrue();
    assertThat(process.exitValue()).as("exit code of %s; its output: %s", line, output()).isZero();
    return output();
  }

  /** What it has written so far, to standard output and standard error. */
  String output() throws IOException {
    return Files.readString(file, Charset.defaultCharset());
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly().onExit().join();
    Files.delete(file);
  }
}
