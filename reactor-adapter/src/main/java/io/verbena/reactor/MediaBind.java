// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaException;
import io.verbena.RdmaServer;
import io.verbena.core.medium.Media;
import io.verbena.reactor.cm.MediaServer;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.Logger;
import reactor.util.Loggers;
import reactor.util.retry.Retry;

/**
 * One bind to {@code rdma://host:port}: listens on one medium after the other, all at one port.
 * Skips media whose device cannot be used, and fails if the port is taken on one of them.
 */
final class MediaBind {
  /** Retries of a bind to port 0: a port that is free on one medium may be taken on another. */
  private static final int PORTS_TRIED = 16;

  private static final Retry RETRY =
      Retry.max(PORTS_TRIED)
          .filter(MediaBind::isTaken)
          .onRetryExhaustedThrow((spec, last) -> last.failure());

  private static final Logger LOG = Loggers.getLogger(MediaBind.class);

  private final URI address;
  private final List<URI> order;
  private final Function<URI, Mono<RdmaServer>> bind;

  /** Servers that listen, until they are handed over. Guarded by this, as any thread may cancel. */
  private final List<RdmaServer> bound = new ArrayList<>();

  private boolean givenUp;
  private @Nullable RdmaException leftOut;
  private int port;
  private int tried;

  private MediaBind(URI address, List<URI> order, Function<URI, Mono<RdmaServer>> bind) {
    this.address = address;
    this.order = order;
    this.bind = bind;
    port = address.getPort();
  }

  /**
   * Returns a Mono that listens on all candidates.
   *
   * @param candidates the addresses of the media, the fastest first
   * @return a server on all media that can be used, or {@link RdmaConnectException}
   */
  static Mono<RdmaServer> bind(
      URI address, List<URI> candidates, Function<URI, Mono<RdmaServer>> bind) {
    // The medium with the widest reach first: one that has the host's ports chooses the port.
    List<URI> order = new ArrayList<>(candidates);
    Collections.reverse(order);
    Mono<RdmaServer> once =
        Mono.defer(
            () -> {
              MediaBind attempt = new MediaBind(address, order, bind);
              return attempt
                  .next()
                  .doOnError(failure -> attempt.giveUp())
                  .doOnCancel(attempt::giveUp);
            });
    return address.getPort() == 0 ? once.retryWhen(RETRY) : once;
  }

  private static boolean isTaken(Throwable failure) {
    return failure.getCause() instanceof VerbsException why
        && why.error() == VerbsError.ADDRESS_IN_USE;
  }

  private Mono<RdmaServer> next() {
    if (tried == order.size()) {
      return handOver();
    }
    URI candidate = Media.withPort(order.get(tried++), port);
    return Mono.defer(() -> bind.apply(candidate))
        .<Runnable>map(server -> () -> listens(server))
        .onErrorResume(RdmaException.class, failure -> Mono.just(() -> failed(candidate, failure)))
        .flatMap(
            outcome -> {
              outcome.run();
              return next();
            });
  }

  /**
   * Hands the servers over. A later cancel does not close them, as an operator that takes one value
   * cancels before it emits.
   */
  private synchronized Mono<RdmaServer> handOver() {
    if (givenUp) {
      return Mono.empty();
    }
    if (bound.isEmpty()) {
      return Mono.error(leftOut);
    }
    RdmaServer all = MediaServer.of(Media.withPort(address, port), bound);
    bound.clear();
    return Mono.just(all);
  }

  private void listens(RdmaServer server) {
    if (port == 0) {
      port = server.address().getPort();
    }
    boolean late;
    synchronized (this) {
      bound.add(server);
      late = givenUp;
    }
    if (late) {
      giveUp();
    }
  }

  private void failed(URI candidate, RdmaException failure) {
    if (isTaken(failure)) {
      throw failure;
    }
    LOG.info("{}: does not listen on {}: {}", address, candidate, failure.getMessage());
    leftOut = failure;
  }

  private void giveUp() {
    RdmaServer all;
    synchronized (this) {
      givenUp = true;
      all = MediaServer.of(address, bound);
      bound.clear();
    }
    all.dispose();
  }
}
