// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaTimeoutException;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * Looks host names up on threads of its own: a few at once, each address once at a time. A name
 * that was looked up a short time ago is in the JVM's cache. Thread-safe.
 */
final class NameResolver {
  private static final int THREADS = 4;
  private static final int MOST_WAITING = 1024;
  private static final long IDLE_SECONDS = 5;

  private final Duration timeout;
  private final ConcurrentHashMap<URI, CompletableFuture<URI>> underway = new ConcurrentHashMap<>();
  private final ThreadPoolExecutor executor =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(MOST_WAITING),
          NameResolver::newThread);

  /**
   * @param timeout how long a lookup may take
   */
  NameResolver(Duration timeout) {
    this.timeout = timeout;
    executor.allowCoreThreadTimeOut(true);
  }

  private static Thread newThread(Runnable work) {
    Thread thread = new Thread(null, work, "name-lookup-of-verbena", 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(NameResolver.class.getClassLoader());
    return thread;
  }

  /**
   * Looks a name up.
   *
   * @param operation what it is for
   * @param lookup returns the address to use, and may block
   * @return that address, or {@link RdmaTimeoutException}, {@link RdmaConnectException}
   */
  Mono<URI> resolve(String operation, URI address, Supplier<URI> lookup) {
    String peer = address.toString();
    return Mono.fromFuture(() -> begin(address, lookup), true)
        .onErrorMap(
            VerbsException.class,
            e -> new RdmaConnectException(operation, peer, "no address of the host is known", e))
        .onErrorMap(
            RejectedExecutionException.class,
            e -> new RdmaConnectException(operation, peer, refusal(), e))
        .timeout(
            timeout,
            Mono.error(
                () ->
                    new RdmaTimeoutException(
                        operation, peer, "the host name was not resolved within " + timeout)));
  }

  private String refusal() {
    return executor.isShutdown()
        ? "the transport was disposed"
        : "host names that wait to be resolved: "
            + MOST_WAITING
            + " (expected: < "
            + MOST_WAITING
            + "); connect to IP addresses";
  }

  private CompletableFuture<URI> begin(URI address, Supplier<URI> lookup) {
    CompletableFuture<URI> begun = new CompletableFuture<>();
    CompletableFuture<URI> other = underway.putIfAbsent(address, begun);
    if (other != null) {
      return other;
    }
    try {
      executor.execute(() -> finish(address, lookup, begun));
    } catch (RejectedExecutionException e) {
      underway.remove(address, begun);
      begun.completeExceptionally(e);
    }
    return begun;
  }

  private void finish(URI address, Supplier<URI> lookup, CompletableFuture<URI> begun) {
    try {
      URI found = lookup.get();
      underway.remove(address, begun);
      begun.complete(found);
    } catch (Throwable e) {
      underway.remove(address, begun);
      begun.completeExceptionally(e);
    }
  }

  /** Gives up all lookups. A thread that still waits for the name service ends after that. */
  void dispose() {
    executor.shutdownNow();
    RejectedExecutionException disposed = new RejectedExecutionException("disposed");
    underway.values().forEach(each -> each.completeExceptionally(disposed));
  }
}
