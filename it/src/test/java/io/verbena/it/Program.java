// SPDX-License-Identifier: Apache-2.0
package io.verbena.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A running program of the system, with its output in a file. Closing kills the program. */
public final class Program implements AutoCloseable {
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

  /** Starts a program. */
  public static Program start(String... line) throws IOException {
    return new Program(List.of(line));
  }

  /** Starts a program. */
  public static Program start(List<String> line) throws IOException {
    return new Program(List.copyOf(line));
  }

  /**
   * Returns the command line of a Java program on this JVM and class path, with JVM options that
   * suit an emulated machine.
   */
  public static List<String> java(Class<?> main, String... arguments) {
    return java(List.of(), System.getProperty("java.class.path"), main, arguments);
  }

  /** Returns such a command line with options for the JVM and another class path. */
  public static List<String> java(
      List<String> options, String classPath, Class<?> main, String... arguments) {
    var line = new ArrayList<String>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:-UsePerfData"));
    // Without this option newer JVMs warn of each native library.
    line.add("--enable-native-access=ALL-UNNAMED");
    line.addAll(options);
    line.addAll(List.of("-cp", classPath, main.getName()));
    line.addAll(List.of(arguments));
    return List.copyOf(line);
  }

  /** Runs the program to its end, which must be a success, and returns its output. */
  public static String run(String... line) throws IOException, InterruptedException {
    return run(List.of(line));
  }

  /** Runs the program to its end, which must be a success, and returns its output. */
  public static String run(List<String> line) throws IOException, InterruptedException {
    try (var program = start(line)) {
      return program.succeed(Duration.ofMinutes(2));
    }
  }

  /** Waits for the end, which must be a success and within the limit; returns the output. */
  public String succeed(Duration limit) throws IOException, InterruptedException {
    assertThat(exitCode(limit)).as("exit code of %s; its output: %s", line, output()).isZero();
    return output();
  }

  /** Returns whether the program ends within the limit. */
  public boolean ends(Duration limit) throws InterruptedException {
    return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Waits for the end, which must come within the limit, and returns the exit code. */
  public int exitCode(Duration limit) throws IOException, InterruptedException {
    assertThat(ends(limit)).as("%s ends within %s; its output: %s", line, limit, output()).isTrue();
    return process.exitValue();
  }

  /** Waits until the output contains {@code text}; fails if the program ends before. */
  public void awaitOutput(String text) throws IOException {
    awaitOutput(text, Duration.ofMinutes(2));
  }

  /** Waits for the output with another limit. */
  public void awaitOutput(String text, Duration limit) throws IOException {
    await()
        .atMost(limit)
        .pollInSameThread()
        .until(() -> output().contains(text) || !process.isAlive());
    assertThat(output()).as("output of %s", line).contains(text);
  }

  /** Returns the program's standard output and standard error so far. */
  public String output() throws IOException {
    return Files.readString(file, Charset.defaultCharset());
  }

  /**
   * Has a Java program print the stacks of its threads to its output, unless it has ended; does not
   * wait.
   */
  public void printThreads() throws IOException, InterruptedException {
    if (process.isAlive()) {
      run("kill", "-QUIT", Long.toString(pid()));
    }
  }

  /** Returns the process id. */
  public long pid() {
    return process.pid();
  }

  /** Kills the program with SIGKILL, and returns once the process has gone. */
  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() throws IOException {
    kill();
    Files.delete(file);
  }
}
