// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.core.medium.Media;
import io.verbena.core.medium.PeerMemory;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * Chooses the media for addresses {@code rdma://host:port}: a server listens on every medium of
 * this process, and a client connects by the fastest medium that reaches the server. Remembers that
 * medium for a minute. Thread-safe.
 */
final class MediaChoice {
  /** Limited, as a faster medium may have become available. */
  private static final long REMEMBERED_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Media media;
  private final NameResolver<List<URI>> candidates;
  private final PeerMemory<URI, URI> remembered = new PeerMemory<>();

  /**
   * @param media the media of this process
   * @param timeout how long the search for the candidates of an address may take
   */
  MediaChoice(Media media, Duration timeout) {
    this.media = media;
    candidates = new NameResolver<>(timeout, MediaChoice::reason);
  }

  /** Returns the reason for errors: an unknown host, an invalid address, or no medium. */
  private static String reason(VerbsException why) {
    return why.getCause() instanceof UnknownHostException
        ? NameResolver.UNKNOWN_HOST
        : why.getMessage();
  }

  /**
   * Returns a Mono that tries one medium after the other, that of the last connect first, until a
   * server answers.
   *
   * @param timeout in nanoseconds, for all media together
   */
  Mono<RdmaConnection> connect(URI address, long timeout, MediaConnect.Connector connector) {
    long start = System.nanoTime();
    return candidates("connect", address)
        .flatMap(
            found ->
                new MediaConnect(this, address, inOrder(address, found), start, timeout, connector)
                    .next());
  }

  /**
   * Returns a Mono that listens on all media of an address, at one port.
   *
   * @param bind listens on a candidate
   */
  Mono<RdmaServer> bind(URI address, Function<URI, Mono<RdmaServer>> bind) {
    return candidates("bind", address).flatMap(found -> MediaBind.bind(address, found, bind));
  }

  private Mono<List<URI>> candidates(String operation, URI address) {
    return candidates.resolve(
        operation,
        address,
        () -> {
          Supplier<URI> lookup = Media.lookup(address);
          return media.candidates(lookup == null ? address : lookup.get());
        });
  }

  private List<URI> inOrder(URI address, List<URI> found) {
    URI last = remembered.get(address, REMEMBERED_NANOS);
    if (last == null || !found.contains(last)) {
      return found;
    }
    List<URI> order = new ArrayList<>(found);
    order.remove(last);
    order.add(0, last);
    return order;
  }

  /**
   * Remembers the candidate that reached an address; returns whether it is another one than before.
   */
  boolean remember(URI address, URI candidate) {
    return remembered.put(address, candidate, REMEMBERED_NANOS);
  }

  /** Forgets a candidate that does not reach an address any more. */
  void forget(URI address, URI candidate) {
    remembered.remove(address, candidate);
  }

  /** Fails all searches for candidates. */
  void dispose() {
    candidates.dispose();
  }
}
