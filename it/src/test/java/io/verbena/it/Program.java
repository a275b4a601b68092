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

/** A program of the system while it runs, with its output in a file. Closing kills it. */
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
   * The command line of a Java program on this JVM and its class path, with what emulation asks
   * for.
   */
  public static List<String> java(Class<?> main, String... arguments) {
    return java(List.of(), System.getProperty("java.class.path"), main, arguments);
  }

  /** The same with options for the JVM and another class path. */
  public static List<String> java(
      List<String> options, String classPath, Class<?> main, String... arguments) {
    var line = new ArrayList<String>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:-UsePerfData"));
    // Without it newer JVMs warn of each native library.
    line.add("--enable-native-access=ALL-UNNAMED");
    line.addAll(options);
    line.addAll(List.of("-cp", classPath, main.getName()));
    line.addAll(List.of(arguments));
    return List.copyOf(line);
  }

  /** Runs the program to its end, which has to be a good one, and answers its output. */
  public static String run(String... line) throws IOException, InterruptedException {
    return run(List.of(line));
  }

  /** Runs the program to its end, which has to be a good one, and answers its output. */
  public static String run(List<String> line) throws IOException, InterruptedException {
    try (var program = start(line)) {
      return program.succeed(Duration.ofMinutes(2));
    }
  }

  /** Waits for the end, which has to be a good one and within the limit; returns the output. */
  public String succeed(Duration limit) throws IOException, InterruptedException {
    assertThat(exitCode(limit)).as("exit code of %s; its output: %s", line, output()).isZero();
    return output();
  }

  /** Waits for the end; false if it does not come within the limit. */
  public boolean ends(Duration limit) throws InterruptedException {
    return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Waits for the end, which has to be within the limit, and returns the exit code. */
  public int exitCode(Duration limit) throws IOException, InterruptedException {
    assertThat(ends(limit)).as("%s ends within %s; its output: %s", line, limit, output()).isTrue();
    return process.exitValue();
  }

  /** Waits until its output contains this; if it ends before, so does the test. */
  public void awaitOutput(String text) throws IOException {
    awaitOutput(text, Duration.ofMinutes(2));
  }

  /** The same with another limit. */
  public void awaitOutput(String text, Duration limit) throws IOException {
    await()
        .atMost(limit)
        .pollInSameThread()
        .until(() -> output().contains(text) || !process.isAlive());
    assertThat(output()).as("output of %s", line).contains(text);
  }

  /** Returns what it has written so far, to standard output and standard error. */
  public String output() throws IOException {
    return Files.readString(file, Charset.defaultCharset());
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Ends it at once, as the kernel does: by SIGKILL. Returns when it has gone. */
  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() throws IOException {
    kill();
    Files.delete(file);
  }
}
