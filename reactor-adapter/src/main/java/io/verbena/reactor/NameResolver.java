// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * Looks host names up, off the loops. A name that was looked up a short time ago is in the JVM's
 * cache. Thread-safe.
 *
 * @param <T> what a name leads to
 */
final class NameResolver<T> {
  /** The reason of a lookup that found no address. */
  static final String UNKNOWN_HOST = "no address of the host is known";

  private static final String THREADS = "name-lookup-of-verbena";

  private final Duration timeout;
  private final Lookups<T> lookups;
  private final Function<VerbsException, String> reason;

  /**
   * @param timeout how long a lookup may take
   */
  NameResolver(Duration timeout) {
    this(timeout, new Lookups<>(THREADS));
  }

  NameResolver(Duration timeout, Lookups<T> lookups) {
    this(timeout, e -> UNKNOWN_HOST, lookups);
  }

  /**
   * @param timeout how long a lookup may take
   * @param reason what the error of a lookup says of it
   */
  NameResolver(Duration timeout, Function<VerbsException, String> reason) {
    this(timeout, reason, new Lookups<>(THREADS));
  }

  private NameResolver(
      Duration timeout, Function<VerbsException, String> reason, Lookups<T> lookups) {
    this.timeout = timeout;
    this.reason = reason;
    this.lookups = lookups;
  }

  /**
   * Looks a name up.
   *
   * @param operation what it is for
   * @param lookup returns the address to use, and may block
   * @return that address, or {@link RdmaTimeoutException}, {@link RdmaConnectException}
   */
  Mono<T> resolve(String operation, URI address, Supplier<T> lookup) {
    String peer = address.toString();
    return lookups
        .find(
            peer,
            peer,
            lookup,
            timeout,
            () ->
                new RdmaTimeoutException(
                    operation, peer, "the host name was not resolved within " + timeout))
        .onErrorMap(
            VerbsException.class,
            e -> new RdmaConnectException(operation, peer, reason.apply(e), e))
        .onErrorMap(
            RejectedExecutionException.class,
            e -> new RdmaConnectException(operation, peer, refusal(), e))
        .onErrorMap(
            e -> !(e instanceof RdmaException),
            e ->
                new RdmaConnectException(
                    operation, peer, "looking up the host of it threw " + e, e));
  }

  private String refusal() {
    return lookups.isDisposed()
        ? "the transport was disposed"
        : "host names that wait to be resolved: "
            + Lookups.MOST_WAITING
            + " (expected: < "
            + Lookups.MOST_WAITING
            + "); connect to IP addresses";
  }

  /** Gives up all lookups. A thread that still waits for the name service ends after that. */
  void dispose() {
    lookups.dispose();
  }
}
