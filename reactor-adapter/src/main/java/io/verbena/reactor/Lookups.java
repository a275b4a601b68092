// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Runs blocking lookups on threads of its own, at most {@link #THREADS} at once. Concurrent lookups
 * of one key share one run; lookups of one group run one after the other, on one thread.
 * Subscribers are signalled on {@link Schedulers#boundedElastic()}, as they may block. Thread-safe.
 *
 * @param <T> the type of a result
 */
final class Lookups<T> {
  /** Capacity of the queue of lookups, and of that of each group. */
  static final int MOST_WAITING = 1024;

  /** Lookups that run at once. */
  static final int THREADS = 4;

  private static final long IDLE_SECONDS = 5;

  private final ConcurrentHashMap<String, CompletableFuture<T>> underway =
      new ConcurrentHashMap<>();

  /** Queued lookups of each group that has a lookup running, or handed to the executor. */
  private final Map<String, Queue<Runnable>> groups = new HashMap<>();

  private final ThreadPoolExecutor executor;

  /**
   * @param threads the name of its threads
   */
  Lookups(String threads) {
    this(work -> newThread(work, threads));
  }

  Lookups(ThreadFactory threads) {
    executor =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            threads);
    executor.allowCoreThreadTimeOut(true);
  }

  private static Thread newThread(Runnable work, String name) {
    Thread thread = new Thread(null, work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(Lookups.class.getClassLoader());
    return thread;
  }

  /**
   * Returns a Mono that looks up the value of a key.
   *
   * @param group lookups of the same group do not run at the same time
   * @param lookup finds the value; may block
   * @param late creates the error of a lookup that takes longer than {@code timeout}
   * @return the value, or the error: what {@code lookup} throws, {@code late}, or {@link
   *     RejectedExecutionException} if too many lookups wait or this was disposed
   */
  Mono<T> find(
      String key, String group, Supplier<T> lookup, Duration timeout, Supplier<Throwable> late) {
    return Mono.fromFuture(() -> begin(key, group, lookup), true)
        .timeout(timeout, Mono.error(late))
        .publishOn(Schedulers.boundedElastic());
  }

  private CompletableFuture<T> begin(String key, String group, Supplier<T> lookup) {
    CompletableFuture<T> begun = new CompletableFuture<>();
    CompletableFuture<T> other = underway.putIfAbsent(key, begun);
    if (other != null) {
      return other;
    }
    try {
      execute(group, () -> finish(key, lookup, begun));
    } catch (Throwable e) {
      // Errors included, such as no thread: the next lookup of the key tries again.
      underway.remove(key, begun);
      begun.completeExceptionally(e);
    }
    return begun;
  }

  private void execute(String group, Runnable lookup) {
    synchronized (groups) {
      Queue<Runnable> waiting = groups.get(group);
      if (waiting == null) {
        executor.execute(() -> runAll(group, lookup));
        groups.put(group, new ArrayDeque<>(1));
      } else if (waiting.size() < MOST_WAITING && !isDisposed()) {
        waiting.add(lookup);
      } else {
        throw new RejectedExecutionException(group);
      }
    }
  }

  private void runAll(String group, Runnable first) {
    for (Runnable next = first; next != null; next = nextOf(group)) {
      next.run();
    }
  }

  private @Nullable Runnable nextOf(String group) {
    synchronized (groups) {
      Queue<Runnable> waiting = groups.get(group);
      Runnable next = waiting == null ? null : waiting.poll();
      if (next == null) {
        groups.remove(group);
      }
      return next;
    }
  }

  private void finish(String key, Supplier<T> lookup, CompletableFuture<T> begun) {
    try {
      T found = lookup.get();
      underway.remove(key, begun);
      begun.complete(found);
    } catch (Throwable e) {
      underway.remove(key, begun);
      begun.completeExceptionally(e);
    }
  }

  /** Returns whether this was disposed. If not, a rejection means that too many lookups wait. */
  boolean isDisposed() {
    return executor.isShutdown();
  }

  /** Fails all lookups with {@link RejectedExecutionException}; running ones end by themselves. */
  void dispose() {
    executor.shutdown();
    executor.getQueue().clear();
    synchronized (groups) {
      groups.values().forEach(Queue::clear);
    }
    RejectedExecutionException disposed = new RejectedExecutionException("disposed");
    underway.values().forEach(each -> each.completeExceptionally(disposed));
  }

  /**
   * Waits up to {@code nanos} for running lookups to end, after {@link #dispose}.
   *
   * @return whether all ended in time
   */
  boolean awaitEnd(long nanos) throws InterruptedException {
    return executor.awaitTermination(nanos, TimeUnit.NANOSECONDS);
  }
}
