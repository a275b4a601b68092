// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Looks host names up through the JDK, on a few threads that may block. Netty's default resolver
 * blocks the event loop, and with it all channels of the loop. Thread-safe.
 *
 * <p>A loop calls {@link #close(EventExecutor)} before it ends. That fails its pending lookups, so
 * that their connects end while the loop still runs and can report it.
 */
final class NamesOffLoop extends AddressResolverGroup<InetSocketAddress> {
  /** The most lookups at once, for all loops of this JVM. */
  static final int THREADS = 4;

  /** The most lookups that wait for a thread. */
  static final int MOST_WAITING = 1024;

  private static final long IDLE_SECONDS = 5;
  private static final ThreadPoolExecutor EXECUTOR = newExecutor();

  private final Lookup lookup;
  private final Map<Promise<?>, EventExecutor> underway = new ConcurrentHashMap<>();
  private final Set<EventExecutor> closed = ConcurrentHashMap.newKeySet();

  /** Finds the addresses of a host, at least one; may block. */
  @FunctionalInterface
  interface Lookup {
    InetAddress[] find(String name) throws UnknownHostException;
  }

  NamesOffLoop(Lookup lookup) {
    this.lookup = lookup;
  }

  private static ThreadPoolExecutor newExecutor() {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_WAITING),
            new DefaultThreadFactory("rdma-names", true));
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  @Override
  protected AddressResolver<InetSocketAddress> newResolver(EventExecutor loop) {
    return new Resolver(loop).asAddressResolver();
  }

  private <T> void begin(
      EventExecutor loop, String name, Promise<T> promise, Function<InetAddress[], T> answer) {
    underway.put(promise, loop);
    promise.addListener(done -> underway.remove(promise));
    if (closed.contains(loop)) {
      promise.tryFailure(closedFailure());
      return;
    }
    try {
      EXECUTOR.execute(() -> find(name, promise, answer));
    } catch (RejectedExecutionException e) {
      promise.tryFailure(
          new UnknownHostException(
              name + ": " + MOST_WAITING + " lookups are waiting (expected: fewer)"));
    }
  }

  private <T> void find(String name, Promise<T> promise, Function<InetAddress[], T> answer) {
    if (promise.isDone()) {
      return;
    }
    try {
      promise.trySuccess(answer.apply(lookup.find(name)));
    } catch (Throwable e) {
      promise.tryFailure(e);
    }
  }

  private static RejectedExecutionException closedFailure() {
    return new RejectedExecutionException("name not looked up: the event loop is shut down");
  }

  /** Fails the pending and the future lookups of a loop. */
  void close(EventExecutor loop) {
    closed.add(loop);
    underway.forEach(
        (promise, of) -> {
          if (of == loop) {
            promise.tryFailure(closedFailure());
          }
        });
  }

  /** The resolver of a loop. */
  private final class Resolver extends InetNameResolver {
    Resolver(EventExecutor loop) {
      super(loop);
    }

    @Override
    protected void doResolve(String name, Promise<InetAddress> promise) {
      begin(executor(), name, promise, found -> found[0]);
    }

    @Override
    protected void doResolveAll(String name, Promise<List<InetAddress>> promise) {
      begin(executor(), name, promise, Arrays::asList);
    }
  }
}
