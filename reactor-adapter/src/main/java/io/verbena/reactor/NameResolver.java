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
 * Resolves host names on threads other than the loops'. A name that was resolved a short time ago
 * is in the JVM's cache. Thread-safe.
 *
 * @param <T> the type of a resolved address
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
   * @param reason returns the reason for the error of a failed lookup
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
   * Returns a Mono that resolves the host name of an address.
   *
   * @param operation the name of the operation, for errors
   * @param lookup returns the address to use; may block
   * @return the address to use, or {@link RdmaTimeoutException}, {@link RdmaConnectException}
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
            e -> new RdmaConnectException(operation, peer, "looking up its host threw " + e, e));
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

  /** Fails all lookups. A thread that waits for the name service ends when that has answered. */
  void dispose() {
    lookups.dispose();
  }
}
