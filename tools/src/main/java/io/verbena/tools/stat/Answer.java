package io.verbena.tools.stat;

import io.verbena.tools.end.ToolFailure;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Asks another JVM, which may be stopped or busy, and waits for its answer no longer than this. */
final class Answer {
  private static final int SECONDS = 15;

  private Answer() {}

  /**
   * Asks on a daemon thread, which is left behind when no answer comes.
   *
   * @throws ToolFailure what {@code question} throws, or that there is no answer
   */
  static <T> T to(String who, Callable<T> question) throws InterruptedException, ToolFailure {
    try {
      return start(question).get(SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new ToolFailure(
          who + ": no answer within " + SECONDS + " s",
          "see whether it is stopped, with `ps`; `kill -CONT` has it go on");
    } catch (ExecutionException e) {
      Throwable why = e.getCause();
      if (why instanceof ToolFailure failure) {
        throw failure;
      }
      throw new ToolFailure(who + ": " + why, "see whether it still runs, with `verbena stat`");
    }
  }

  /** Likewise, and nobody has to wait. */
  static <T> FutureTask<T> start(Callable<T> question) {
    FutureTask<T> asked = new FutureTask<>(question);
    Thread thread = new Thread(asked, "verbena-stat-question");
    thread.setDaemon(true);
    thread.start();
    return asked;
  }
}
