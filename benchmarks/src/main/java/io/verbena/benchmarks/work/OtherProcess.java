// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A second JVM with the same flags as this one, for the other end of a participant. It ends with
 * this one: its program calls {@link #endWithParent} first.
 */
public final class OtherProcess implements AutoCloseable {
  private static final int KILL_SECONDS = 10;

  private final Process process;
  private final BufferedReader output;

  /** Starts the program. */
  public OtherProcess(Class<?> program, Object... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    output = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Waits for the next line that the program prints, and returns it. */
  public String line() throws IOException {
    String line = output.readLine();
    if (line == null) {
      throw new IOException("the other process has ended; its error is above");
    }
    return line;
  }

  /** Returns its CPU time in nanoseconds, counted in units of 10 ms, or 0 after its end. */
  public long cpuNanos() {
    return process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
  }

  /** Called in the program: ends its process when the parent ends or a thread fails. */
  public static void endWithParent() {
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> fail(failure));
    Thread watch =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {
                  // The parent writes nothing; only the end of the stream matters.
                }
                Runtime.getRuntime().halt(0);
              } catch (IOException e) {
                Runtime.getRuntime().halt(1);
              }
            },
            "parent-watch");
    watch.setDaemon(true);
    watch.start();
  }

  /** Called in the program: ends its process because of a failure. */
  public static void fail(Throwable failure) {
    failure.printStackTrace();
    Runtime.getRuntime().halt(1);
  }

  @Override
  public void close() {
    OtherLoad.addSecondProcess(cpuNanos());
    process.destroyForcibly();
    try {
      if (!process.waitFor(KILL_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("process " + process.pid() + ": cannot be killed");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
