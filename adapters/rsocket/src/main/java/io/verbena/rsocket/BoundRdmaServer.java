// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.rsocket.Closeable;
import io.verbena.RdmaServer;
import java.net.URI;
import reactor.core.publisher.Mono;

/** A listening RSocket server. Closing it does not close its connections. */
public final class BoundRdmaServer implements Closeable {
  private final RdmaServer server;

  BoundRdmaServer(RdmaServer server) {
    this.server = server;
  }

  /** Returns the address to connect to. */
  public URI address() {
    return server.address();
  }

  /** Returns the number of open connections. */
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
