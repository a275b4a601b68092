// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The second thread of a participant that has none of its own; lives from open to close. */
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
   * Runs {@code mine} in the calling thread and {@code theirs} in the second thread; returns when
   * both are done.
   *
   * @throws Exception what either failed with, the caller's end first
   */
  public void together(Body mine, Body theirs, Deadline deadline) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    executor.execute(() -> run(theirs, deadline, done));
    try {
      mine.run(deadline.spin());
    } catch (Exception e) {
      // The other end's failure is the cause when this one only saw nothing arrive.
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
