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
 * Chooses what carries the connections of addresses {@code rdma://host:port}: a server listens on
 * every medium that this process has, and a client takes the fastest that leads to it. Remembers
 * for a minute which that was. Thread-safe.
 */
final class MediaChoice {
  /** A faster medium may have come meanwhile. */
  private static final long REMEMBERED_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Media media;
  private final NameResolver<List<URI>> candidates;
  private final PeerMemory<URI, URI> remembered = new PeerMemory<>();

  /**
   * @param media those that are present
   * @param timeout how long it may take to find out what leads to an address
   */
  MediaChoice(Media media, Duration timeout) {
    this.media = media;
    candidates = new NameResolver<>(timeout, MediaChoice::reason);
  }

  /** Its host is not known, or the address is not understood, or no medium leads there. */
  private static String reason(VerbsException why) {
    return why.getCause() instanceof UnknownHostException
        ? NameResolver.UNKNOWN_HOST
        : why.getMessage();
  }

  /**
   * Connects by one medium after the other, that of the last connect first, until a server answers.
   *
   * @param timeout in nanoseconds
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
   * Listens on all media that lead here, at one port.
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

  /** Notes what led to an address; returns whether that is news. */
  boolean remember(URI address, URI candidate) {
    return remembered.put(address, candidate, REMEMBERED_NANOS);
  }

  /** Notes that a candidate does not lead to an address any more. */
  void forget(URI address, URI candidate) {
    remembered.remove(address, candidate);
  }

  /** Gives up all that it is about to find out. */
  void dispose() {
    candidates.dispose();
  }
}
