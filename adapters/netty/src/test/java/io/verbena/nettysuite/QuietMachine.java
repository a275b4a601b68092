// SPDX-License-Identifier: Apache-2.0
package io.verbena.nettysuite;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * Skips a failed test that asserts times if this machine held up threads during the test, and says
 * so. On a quiet machine the test fails.
 */
final class QuietMachine implements InvocationInterceptor {
  /** A quarter of the shortest time that those tests measure, which is 100 ms. */
  private static final long MOST_HELD_UP = TimeUnit.MILLISECONDS.toNanos(25);

  /** Sleeps for a millisecond at a time, and records the longest sleep. */
  private static final class Gauge extends Thread {
    private volatile boolean over;
    private volatile long longest;

    Gauge() {
      super("gauge");
      setDaemon(true);
    }

    @Override
    public void run() {
      while (!over) {
        long from = System.nanoTime();
        try {
          Thread.sleep(1);
        } catch (InterruptedException e) {
          return;
        }
        longest = Math.max(longest, System.nanoTime() - from);
      }
    }
  }

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<java.lang.reflect.Method> method,
      ExtensionContext context)
      throws Throwable {
    Gauge gauge = new Gauge();
    gauge.start();
    try {
      invocation.proceed();
    } catch (Throwable failure) {
      if (gauge.longest <= MOST_HELD_UP) {
        throw failure;
      }
      throw new TestAbortedException(
          "*** SKIPPED, NOT TESTED HERE: "
              + context.getDisplayName()
              + " measures time, and a thread that wanted to sleep for 1 ms was held up for "
              + TimeUnit.NANOSECONDS.toMillis(gauge.longest)
              + " ms",
          failure);
    } finally {
      gauge.over = true;
      gauge.join();
    }
  }
}
