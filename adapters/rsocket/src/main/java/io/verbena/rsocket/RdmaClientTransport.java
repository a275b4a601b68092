// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.rsocket.DuplexConnection;
import io.rsocket.transport.ClientTransport;
import io.verbena.RdmaTransport;
import java.net.URI;
import reactor.core.publisher.Mono;

/**
 * Connects RSocket clients over RDMA. The URI's scheme chooses the HCA.
 *
 * <pre>{@code
 * RSocket client = RSocketConnector.create()
 *     .connect(RdmaClientTransport.create(URI.create("emulated://echo")))
 *     .block();
 * }</pre>
 *
 * RSocket has no flow control across its streams, so a connection queues frames for which the peer
 * has given no credit. That queue has a {@linkplain #sendQueueLimit limit} in bytes: a connection
 * that would exceed it fails with {@link SendQueueLimitException}. Immutable and thread-safe.
 */
public final class RdmaClientTransport extends FrameTransport<RdmaClientTransport>
    implements ClientTransport {

  private RdmaClientTransport(URI address, RdmaTransport transport) {
    super(address, transport);
  }

  private RdmaClientTransport(RdmaClientTransport like, SendQueues queues) {
    super(like.address(), like.transport(), queues);
  }

  /**
   * Returns a transport that connects to an address. It uses an {@link RdmaTransport} with default
   * options, which all such clients share.
   */
  public static RdmaClientTransport create(URI address) {
    return create(address, SharedTransport.ofClients());
  }

  /**
   * Returns a transport that connects to an address.
   *
   * @param transport the transport whose loops and memory are used; it stays the caller's
   */
  public static RdmaClientTransport create(URI address, RdmaTransport transport) {
    return new RdmaClientTransport(address, transport);
  }

  @Override
  RdmaClientTransport with(SendQueues queues) {
    return new RdmaClientTransport(this, queues);
  }

  @Override
  public Mono<DuplexConnection> connect() {
    return transport().connect(address()).map(this::frames);
  }
}
