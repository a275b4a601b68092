// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A program in a JVM of its own, with its output in a file. Closing interrupts and ends the
 * program.
 */
final class ChildProcess implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final Path output;
  private final Process process;

  private ChildProcess(Path output, Process process) {
    this.output = output;
    this.process = process;
  }

  /**
   * Starts a program.
   *
   * @param output the file for its output
   */
  static ChildProcess start(Path output, Class<?> main, List<String> arguments) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"));
    line.add("--add-opens=java.base/java.nio=ALL-UNNAMED"); // as bin/sample does for Arrow
    line.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    line.addAll(arguments);
    return new ChildProcess(
        output,
        new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(output.toFile()).start());
  }

  /** Waits until the output has a match, and returns the match's first group. */
  String awaitOutput(Pattern pattern) {
    await().atMost(LIMIT).until(() -> !process.isAlive() || pattern.matcher(output()).find());
    Matcher matcher = pattern.matcher(output());
    assertThat(matcher.find()).as(output()).isTrue();
    return matcher.group(1);
  }

  /** Waits for the end and returns the exit code. */
  int awaitExit() throws InterruptedException {
    assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(output()).isTrue();
    return process.exitValue();
  }

  /** Returns the output so far. */
  String output() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().completeOnTimeout(process, LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    process.destroyForcibly().onExit().join();
  }
}
