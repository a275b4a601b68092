// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.transport.ServerTransport;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import java.net.URI;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Serves RSocket over RDMA. The URI's scheme chooses the HCA.
 *
 * <pre>{@code
 * BoundRdmaServer server = RSocketServer.create(acceptor)
 *     .bind(RdmaServerTransport.create(URI.create("emulated://echo")))
 *     .block();
 * }</pre>
 *
 * For the queue of a connection, see {@link RdmaClientTransport}. Immutable and thread-safe.
 */
public final class RdmaServerTransport extends FrameTransport<RdmaServerTransport>
    implements ServerTransport<BoundRdmaServer> {

  private RdmaServerTransport(URI address, RdmaTransport transport) {
    super(address, transport);
  }

  private RdmaServerTransport(RdmaServerTransport like, SendQueues queues) {
    super(like.address(), like.transport(), queues);
  }

  /**
   * Returns a transport that listens on an address. It uses an {@link RdmaTransport} with default
   * options, which all such servers share.
   */
  public static RdmaServerTransport create(URI address) {
    return create(address, SharedTransport.ofServers());
  }

  /**
   * Returns a transport that listens on an address.
   *
   * @param transport the transport whose loops and memory are used; it stays the caller's
   */
  public static RdmaServerTransport create(URI address, RdmaTransport transport) {
    return new RdmaServerTransport(address, transport);
  }

  @Override
  RdmaServerTransport with(SendQueues queues) {
    return new RdmaServerTransport(this, queues);
  }

  @Override
  public Mono<BoundRdmaServer> start(ConnectionAcceptor acceptor) {
    requireNonNull(acceptor, "acceptor");
    return transport()
        .bind(address(), connection -> serve(acceptor, connection))
        .map(BoundRdmaServer::new);
  }

  private Publisher<Void> serve(ConnectionAcceptor acceptor, RdmaConnection connection) {
    FrameConnection frames = frames(connection);
    // RSocket closes the connection; the completion of the acceptor does not. The acceptor is
    // cancelled with the connection, as it may wait for ever.
    return acceptor.apply(frames).doOnError(frames::fail).onErrorComplete().then(Mono.never());
  }
}
