// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.HandshakeException;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.util.Logger;
import reactor.util.Loggers;

/** One connect to {@code rdma://host:port}: tries one medium at a time. */
final class MediaConnect {
  private static final Logger LOG = Loggers.getLogger(MediaConnect.class);

  /** Connects by one medium. */
  interface Connector {
    /** Connects to a candidate within {@code timeout} nanoseconds. */
    Mono<RdmaConnection> connect(URI candidate, long timeout);
  }

  private final MediaChoice choice;
  private final URI address;
  private final List<URI> order;
  private final long start;
  private final long timeout;
  private final Connector connector;
  private final List<RdmaException> failures = new ArrayList<>();

  MediaConnect(
      MediaChoice choice,
      URI address,
      List<URI> order,
      long start,
      long timeout,
      Connector connector) {
    this.choice = choice;
    this.address = address;
    this.order = order;
    this.start = start;
    this.timeout = timeout;
    this.connector = connector;
  }

  /** Tries the next medium. Each medium gets half of the remaining time, the last one all of it. */
  Mono<RdmaConnection> next() {
    URI candidate = order.get(failures.size());
    long left = ReactorTransport.left(timeout, start);
    return Mono.defer(() -> connector.connect(candidate, isLast() ? left : left / 2 + 1))
        .doOnNext(connection -> connected(candidate))
        .onErrorResume(RdmaException.class, failure -> failed(candidate, failure));
  }

  private boolean isLast() {
    return failures.size() == order.size() - 1;
  }

  private void connected(URI candidate) {
    if (choice.remember(address, candidate)) {
      LOG.info("{}: connected by {}", address, candidate);
    }
  }

  private Mono<RdmaConnection> failed(URI candidate, RdmaException failure) {
    if (isAnswer(failure)) {
      return Mono.error(failure);
    }
    choice.forget(address, candidate);
    boolean wasLast = isLast();
    failures.add(failure);
    return wasLast ? Mono.error(allFailed(failure)) : next();
  }

  /** Returns whether the server itself answered; it would answer the same by another medium. */
  private static boolean isAnswer(RdmaException failure) {
    return failure instanceof HandshakeException
        || (failure instanceof RdmaConnectException refused && refused.rejection() != null);
  }

  private RdmaException allFailed(RdmaException last) {
    if (failures.size() == 1) {
      return last;
    }
    StringBuilder reason = new StringBuilder("no medium leads there:");
    for (RdmaException each : failures) {
      reason.append(" [").append(each.getMessage()).append(']');
    }
    RdmaConnectException all =
        new RdmaConnectException("connect", address.toString(), reason.toString(), last);
    failures.subList(0, failures.size() - 1).forEach(all::addSuppressed);
    return all;
  }
}
