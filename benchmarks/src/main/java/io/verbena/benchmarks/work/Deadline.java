// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A deadline. Thread-safe; each spinning thread creates a {@link Spin} of its own. */
public final class Deadline {
  private final long at;
  private final Duration limit;

  private Deadline(Duration limit) {
    this.at = System.nanoTime() + limit.toNanos();
    this.limit = limit;
  }

  /** Returns a deadline {@code limit} from now. */
  public static Deadline in(Duration limit) {
    return new Deadline(limit);
  }

  /** Returns the nanoseconds until the deadline, negative after it has passed. */
  public long remainingNanos() {
    return at - System.nanoTime();
  }

  /** Returns a busy wait of the calling thread that ends with this deadline. */
  public Spin spin() {
    return new Spin(this);
  }

  /**
   * Waits for {@code stage}.
   *
   * @throws Exception the failure of the stage, or {@link TimeoutException}
   */
  public <T> T await(CompletionStage<T> stage) throws Exception {
    try {
      return stage.toCompletableFuture().get(remainingNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }

  void check() throws TimeoutException {
    if (remainingNanos() < 0) {
      throw new TimeoutException("not done after " + limit);
    }
  }
}
