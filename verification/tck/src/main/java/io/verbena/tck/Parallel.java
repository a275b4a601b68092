// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs several threads, which start together and must end within a deadline. */
final class Parallel {
  private static final Duration LOOK = Duration.ofMillis(10);

  private final List<FutureTask<Void>> tasks = new ArrayList<>();

  /** The work of one thread. */
  interface Work {
    void run() throws Exception;
  }

  /** Adds a thread. */
  Parallel thread(Work work) {
    tasks.add(
        new FutureTask<>(
            () -> {
              work.run();
              return null;
            }));
    return this;
  }

  /** Runs all threads. Fails if one of them fails or does not end in time. */
  void run(Duration patience) throws InterruptedException {
    CyclicBarrier start = new CyclicBarrier(tasks.size());
    List<Thread> threads = new ArrayList<>();
    for (FutureTask<Void> task : tasks) {
      threads.add(
          start(
              () -> {
                start.await(patience.toNanos(), TimeUnit.NANOSECONDS);
                task.run();
              }));
    }
    Deadline deadline = Deadline.in(patience);
    try {
      for (FutureTask<Void> task : tasks) {
        try {
          task.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
          throw new AssertionError("a thread failed: " + e.getCause().getMessage(), e.getCause());
        } catch (TimeoutException e) {
          throw new AssertionError("a thread was not done within " + patience, e);
        }
      }
    } finally {
      for (Thread thread : threads) {
        thread.interrupt();
      }
      for (Thread thread : threads) {
        thread.join(patience.toMillis());
      }
    }
  }

  /** Starts one thread. The test must check its effects, because its failures are not reported. */
  static Thread start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Exception e) {
                throw new IllegalStateException("in a thread of the test", e);
              }
            },
            "tck-worker");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Waits until the thread is blocked. */
  static void awaitBlocked(Thread thread, Duration patience) {
    long[] worked = {-1};
    await("the thread to wait")
        .atMost(patience)
        .pollInterval(LOOK)
        .until(
            () ->
                thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING
                    || isInNativeCode(thread)
                    || hasNotWorkedSince(thread, worked));
    assertThat(thread.isAlive()).isTrue();
  }

  /**
   * Returns whether a thread is in native code. A thread that waits there has the state RUNNABLE.
   */
  private static boolean isInNativeCode(Thread thread) {
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length > 0 && stack[0].isNativeMethod();
  }

  /**
   * Returns whether a thread has used no CPU time since {@code before}. A native call by the
   * foreign function interface does not appear in a stack trace, but a thread that waits there uses
   * no CPU time.
   */
  private static boolean hasNotWorkedSince(Thread thread, long[] before) {
    @SuppressWarnings("deprecation") // threadId() exists from JDK 19 on.
    long now = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId());
    boolean idle = now > 0 && now == before[0];
    before[0] = now;
    return idle;
  }
}
