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
 * Looks up values that take too long for a loop, on threads of its own: a few at once, each key
 * once at a time, and those of a group one after the other, for which they take but one thread.
 * Subscribers get the result on other threads, as they may block. Thread-safe.
 *
 * @param <T> what is found
 */
final class Lookups<T> {
  /** Lookups that may wait. */
  static final int MOST_WAITING = 1024;

  /** Lookups at once. */
  static final int THREADS = 4;

  private static final long IDLE_SECONDS = 5;

  private final ConcurrentHashMap<String, CompletableFuture<T>> underway =
      new ConcurrentHashMap<>();

  /** The lookups of each group that wait for the one that has a thread, or is to get one. */
  private final Map<String, Queue<Runnable>> groups = new HashMap<>();

  private final ThreadPoolExecutor executor;

  /**
   * @param threads what its threads are called
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
   * Finds out what belongs to a key.
   *
   * @param group those with which it may not be under way at once
   * @param lookup finds it out, and may block
   * @param late the error if that takes longer than {@code timeout}
   * @return it, what {@code lookup} throws, {@code late}, or {@link RejectedExecutionException}
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
      // Also where no thread can be had: the next who asks for the key is to try again.
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

  /** Returns whether it was disposed; if not, a rejected lookup was rejected as too many wait. */
  boolean isDisposed() {
    return executor.isShutdown();
  }

  /** Gives up all lookups; those that are under way end by themselves. */
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
   * Waits for the lookups that are under way, once it is disposed.
   *
   * @return whether they ended in time
   */
  boolean awaitEnd(long nanos) throws InterruptedException {
    return executor.awaitTermination(nanos, TimeUnit.NANOSECONDS);
  }
}
