// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import io.verbena.RdmaMemory;
import io.verbena.RdmaServer;
import java.net.URI;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A server that listens on several media at one port. */
public final class MediaServer implements RdmaServer {
  private final URI address;
  private final List<RdmaServer> servers;

  private MediaServer(URI address, List<RdmaServer> servers) {
    this.address = address;
    this.servers = servers;
  }

  /**
   * Combines servers that listen into one.
   *
   * @param address the address to connect to
   */
  public static RdmaServer of(URI address, List<RdmaServer> servers) {
    return new MediaServer(address, List.copyOf(servers));
  }

  /** Returns the exception for a request of memory that several devices would have to share. */
  public static IllegalStateException noMemoryOfAll(URI address) {
    return new IllegalStateException(
        "memory: "
            + address
            + " may be carried by several media, each with memory of its own (expected:"
            + " RdmaConnection.memory(), or an address of one medium)");
  }

  @Override
  public URI address() {
    return address;
  }

  @Override
  public RdmaMemory memory() {
    if (servers.size() == 1) {
      return servers.get(0).memory();
    }
    throw noMemoryOfAll(address);
  }

  @Override
  public int connectionCount() {
    return servers.stream().mapToInt(RdmaServer::connectionCount).sum();
  }

  /** {@inheritDoc} Completes when no medium is left that listens. */
  @Override
  public Mono<Void> onClose() {
    return Flux.fromIterable(servers)
        .flatMapDelayError(RdmaServer::onClose, servers.size(), 1)
        .then();
  }

  /** {@inheritDoc} A further call tries again to close what could not be closed. */
  @Override
  public void dispose() {
    RuntimeException first = null;
    for (RdmaServer server : servers) {
      try {
        server.dispose();
      } catch (RuntimeException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }

  @Override
  public boolean isDisposed() {
    return servers.stream().allMatch(RdmaServer::isDisposed);
  }
}
