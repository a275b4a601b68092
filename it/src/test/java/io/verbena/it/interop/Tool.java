package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.Verbena;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A command of {@code bin/verbena} while it runs, in a thread of this JVM. */
final class Tool {
  private final String line;
  private final StringWriter output = new StringWriter();
  private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();

  private Tool(String line) {
    this.line = line;
  }

  /** Starts one. Whatever becomes of it, it gives up on its own when nothing comes for a minute. */
  static Tool start(String line) {
    Tool tool = new Tool(line);
    Thread thread =
        new Thread(
            () -> {
              PrintWriter out = new PrintWriter(tool.output, true);
              try {
                tool.exitCode.complete(Verbena.run(out, out, line.strip().split(" +", -1)));
              } catch (Throwable e) {
                tool.exitCode.completeExceptionally(e);
              }
            },
            line);
    thread.setDaemon(true);
    thread.start();
    return tool;
  }

  /** Waits for the end, which has to be a good one and within the limit; answers the output. */
  String succeed(Duration limit) throws Exception {
    try {
      int code = exitCode.get(limit.toNanos(), TimeUnit.NANOSECONDS);
      assertThat(code).as("exit code of %s; its output: %s", line, output).isZero();
    } catch (TimeoutException e) {
      throw new AssertionError(line + " ends within " + limit + "; its output: " + output, e);
    }
    return output.toString();
  }
}
