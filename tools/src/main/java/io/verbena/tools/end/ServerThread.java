// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Runs the server of a test whose ends are both in this process. */
final class ServerThread {
  private ServerThread() {}

  /** Runs a server on a daemon thread; the future completes when the server ends. */
  static CompletableFuture<@Nullable Void> start(Callable<@Nullable Void> server) {
    CompletableFuture<@Nullable Void> served = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                served.complete(server.call());
              } catch (Throwable e) {
                served.completeExceptionally(e);
              }
            },
            "server");
    thread.setDaemon(true);
    thread.start();
    return served;
  }
}
