// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import io.verbena.tools.end.ToolFailure;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Calls to another JVM, with a time limit, because that JVM may be stopped or busy. */
final class TimedCall {
  private static final int SECONDS = 15;

  private TimedCall() {}

  /**
   * Calls on a daemon thread, which is abandoned if no answer comes in time.
   *
   * @throws ToolFailure from {@code question}, or if there is no answer
   */
  static <T> T to(String who, Callable<T> question) throws InterruptedException, ToolFailure {
    try {
      return start(question).get(SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new ToolFailure(
          who + ": no answer within " + SECONDS + " s",
          "check with `ps` whether it is stopped; `kill -CONT` continues it");
    } catch (ExecutionException e) {
      Throwable why = e.getCause();
      if (why instanceof ToolFailure failure) {
        throw failure;
      }
      throw new ToolFailure(who + ": " + why, "check with `verbena stat` whether it still runs");
    }
  }

  /** Starts a call on a daemon thread and does not wait for it. */
  static <T> FutureTask<T> start(Callable<T> question) {
    FutureTask<T> asked = new FutureTask<>(question);
    Thread thread = new Thread(asked, "verbena-stat-question");
    thread.setDaemon(true);
    thread.start();
    return asked;
  }
}
