// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs a listening server and its client in this process. */
public final class LocalRun {
  private LocalRun() {}

  /** The work of one end. */
  @FunctionalInterface
  public interface Part {
    /** Runs to its end. */
    void run() throws InterruptedException, ToolFailure;
  }

  /**
   * Runs both to their ends.
   *
   * @param limit how long the server may take when the client has ended
   * @throws ToolFailure if one of them failed
   */
  public static void run(Part server, Part client, Duration limit)
      throws InterruptedException, ToolFailure {
    CompletableFuture<@Nullable Void> served =
        ServerThread.start(
            () -> {
              server.run();
              return null;
            });
    try {
      client.run();
    } catch (ToolFailure e) {
      throw served.isCompletedExceptionally() ? withCause(e, served) : e;
    }
    try {
      served.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new ToolFailure("the server failed: " + e.getCause().getMessage(), "");
    } catch (TimeoutException e) {
      throw new ToolFailure("the server did not end within " + limit.toSeconds() + " s", "");
    }
  }

  /**
   * Adds the server's failure to the client's, which often says only that no answer came; the
   * server's failure holds the reason.
   */
  private static ToolFailure withCause(ToolFailure ofClient, CompletableFuture<?> served) {
    String why = served.handle((unused, failure) -> failure.getMessage()).join();
    return new ToolFailure(
        ofClient.getMessage() + "; the server failed: " + why, ofClient.advice());
  }
}
