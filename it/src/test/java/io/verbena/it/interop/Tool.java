// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A running command of {@code bin/verbena}. */
final class Tool {
  private final String line;
  private final Output output;
  private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();

  /** Returns the output of a tool so far. */
  @FunctionalInterface
  interface Output {
    String soFar() throws IOException;
  }

  private Tool(String line, Output output) {
    this.line = line;
    this.output = output;
  }

  /**
   * Starts a tool. The tool gives up by itself if nothing happens for a minute.
   *
   * @param run runs the tool to its end and returns the exit code
   */
  static Tool start(String line, Output output, Callable<Integer> run) {
    Tool tool = new Tool(line, output);
    Thread thread =
        new Thread(
            () -> {
              try {
                tool.exitCode.complete(run.call());
              } catch (Throwable e) {
                tool.exitCode.completeExceptionally(e);
              }
            },
            line);
    thread.setDaemon(true);
    thread.start();
    return tool;
  }

  static String[] words(String line) {
    return line.strip().split(" +", -1);
  }

  boolean isRunning() {
    return !exitCode.isDone();
  }

  @Override
  public String toString() {
    return line;
  }

  /** Waits until the output contains {@code text}; fails if the tool ends before. */
  void awaitOutput(String text, Duration limit) throws IOException {
    await()
        .atMost(limit)
        .pollInSameThread()
        .until(() -> output.soFar().contains(text) || exitCode.isDone());
    assertThat(output.soFar()).as("output of %s", line).contains(text);
  }

  /** Waits for the end, which must be a success and within the limit; returns the output. */
  String succeed(Duration limit) throws Exception {
    int code = exitCode(limit);
    assertThat(code).as("exit code of %s; its output: %s", line, output.soFar()).isZero();
    return output.soFar();
  }

  /** Waits for the end, which must be a failure and within the limit; returns the output. */
  String fail(Duration limit) throws Exception {
    int code = exitCode(limit);
    assertThat(code).as("exit code of %s; its output: %s", line, output.soFar()).isOne();
    return output.soFar();
  }

  /** Returns the output so far. */
  String output() throws IOException {
    return output.soFar();
  }

  /** Waits for the end and returns the exit code. */
  int exitCode(Duration limit) throws Exception {
    try {
      return exitCode.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError(line + " ends within " + limit + "; so far: " + output.soFar(), e);
    }
  }
}
