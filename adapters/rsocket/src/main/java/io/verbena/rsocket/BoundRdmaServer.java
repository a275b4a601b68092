// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.rsocket.Closeable;
import io.verbena.RdmaServer;
import java.net.URI;
import reactor.core.publisher.Mono;

/** An address where an RSocket server listens. Closing it leaves its connections alone. */
public final class BoundRdmaServer implements Closeable {
  private final RdmaServer server;

  BoundRdmaServer(RdmaServer server) {
    this.server = server;
  }

  /** The address to connect to. */
  public URI address() {
    return server.address();
  }

  /** The connections that are open now. */
  public int connectionCount() {
    return server.connectionCount();
  }

  @Override
  public Mono<Void> onClose() {
    return server.onClose();
  }

  @Override
  public void dispose() {
    server.dispose();
  }

  @Override
  public boolean isDisposed() {
    return server.isDisposed();
  }
}
