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

/** A command of {@code bin/verbena} while it runs. */
final class Tool {
  private final String line;
  private final Output output;
  private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();

  /** The output of a tool so far. */
  @FunctionalInterface
  interface Output {
    String soFar() throws IOException;
  }

  private Tool(String line, Output output) {
    this.line = line;
    this.output = output;
  }

  /**
   * Starts one. Whatever becomes of it, it gives up on its own when nothing comes for a minute.
   *
   * @param run runs it to its end and answers its exit code
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

  /** Waits until its output contains this; if it ends before, so does the test. */
  void awaitOutput(String text, Duration limit) throws IOException {
    await()
        .atMost(limit)
        .pollInSameThread()
        .until(() -> output.soFar().contains(text) || exitCode.isDone());
    assertThat(output.soFar()).as("output of %s", line).contains(text);
  }

  /** Waits for the end, which has to be a good one and within the limit; returns the output. */
  String succeed(Duration limit) throws Exception {
    int code = exitCode(limit);
    assertThat(code).as("exit code of %s; its output: %s", line, output.soFar()).isZero();
    return output.soFar();
  }

  /** Waits for the end, which has to be a failure and within the limit; returns the output. */
  String fail(Duration limit) throws Exception {
    int code = exitCode(limit);
    assertThat(code).as("exit code of %s; its output: %s", line, output.soFar()).isOne();
    return output.soFar();
  }

  /** Returns what it has said. */
  String output() throws IOException {
    return output.soFar();
  }

  /** Waits for the end, of whatever kind. */
  int exitCode(Duration limit) throws Exception {
    try {
      return exitCode.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError(line + " ends within " + limit + "; so far: " + output.soFar(), e);
    }
  }
}
