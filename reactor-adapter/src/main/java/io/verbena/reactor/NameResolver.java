// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * Looks host names up, off the loops. A name that was looked up a short time ago is in the JVM's
 * cache. Thread-safe.
 *
 * @param <T> what a name leads to
 */
final class NameResolver<T> {
  private final Duration timeout;
  private final Lookups<T> lookups;

  /**
   * @param timeout how long a lookup may take
   */
  NameResolver(Duration timeout) {
    this(timeout, new Lookups<>("name-lookup-of-verbena"));
  }

  NameResolver(Duration timeout, Lookups<T> lookups) {
    this.timeout = timeout;
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
            e -> new RdmaConnectException(operation, peer, "no address of the host is known", e))
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
