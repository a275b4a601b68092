// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The second thread of a participant without threads. Runs until it is closed. */
public final class SecondThread implements AutoCloseable {
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          body -> {
            Thread thread = new Thread(body, "partner");
            thread.setDaemon(true);
            return thread;
          });

  /** One end's work. */
  public interface Body {
    void run(Spin spin) throws Exception;
  }

  /**
   * Runs {@code mine} in the calling thread and {@code theirs} in the second thread, and returns
   * when both are done.
   *
   * @throws Exception the failure of {@code theirs} if it failed first, otherwise of {@code mine}
   */
  public void together(Body mine, Body theirs, Deadline deadline) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    executor.execute(() -> run(theirs, deadline, done));
    try {
      mine.run(deadline.spin());
    } catch (Exception e) {
      // If the other end has failed, its failure is the cause: this end only timed out.
      if (done.isCompletedExceptionally()) {
        deadline.await(done);
      }
      throw e;
    }
    deadline.await(done);
  }

  private static void run(Body body, Deadline deadline, CompletableFuture<Void> done) {
    try {
      body.run(deadline.spin());
      done.complete(null);
    } catch (Exception | Error e) {
      done.completeExceptionally(e);
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
