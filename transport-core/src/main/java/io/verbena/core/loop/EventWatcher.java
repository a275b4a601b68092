// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A thread that awaits the events of a completion channel for a loop. The thread always sleeps in
 * the channel, so the loop need not wake it. The number of waiting events is bounded: a queue has
 * at most one until the loop arms it again.
 */
final class EventWatcher {
  private static final long LONGEST_SLEEP = TimeUnit.MINUTES.toNanos(1);

  /** The time that the thread may take to end, in milliseconds. */
  private static final long STOP_MILLIS = TimeUnit.SECONDS.toMillis(10);

  private final CompletionChannel channel;
  private final Runnable raised;
  private final Thread thread;
  private final ConcurrentLinkedQueue<CompletionQueue> events = new ConcurrentLinkedQueue<>();
  private volatile boolean stopping;
  private volatile @Nullable Throwable failure;

  private EventWatcher(CompletionChannel channel, Runnable raised, String name) {
    this.channel = channel;
    this.raised = raised;
    thread = new Thread(this::watch, name);
    thread.setDaemon(true);
  }

  static EventWatcher start(CompletionChannel channel, Runnable raised, String name) {
    EventWatcher watcher = new EventWatcher(channel, raised, name);
    watcher.thread.start();
    return watcher;
  }

  private void watch() {
    try {
      while (!stopping) {
        CompletionQueue queue = channel.await(LONGEST_SLEEP);
        if (queue != null) {
          events.add(queue);
          raised.run();
        }
      }
    } catch (Throwable e) {
      // take() throws it on the loop, as if the loop had awaited the event itself.
      failure = e;
      raised.run();
    }
  }

  boolean take(CompletionQueues<?> queues) {
    boolean any = false;
    for (CompletionQueue queue = events.poll(); queue != null; queue = events.poll()) {
      queues.woken(queue);
      any = true;
    }
    Throwable failed = failure;
    if (failed != null && !stopping) {
      throw new VerbsException(VerbsError.IO, "await an event: " + failed.getMessage(), failed);
    }
    return any;
  }

  void stop() {
    stopping = true;
    channel.wakeup();
    boolean interrupted = false;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_MILLIS);
    while (thread.isAlive()) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) {
        throw new VerbsException(
            VerbsError.BUSY, "close: a thread still awaits events after " + STOP_MILLIS + " ms");
      }
      try {
        thread.join(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
