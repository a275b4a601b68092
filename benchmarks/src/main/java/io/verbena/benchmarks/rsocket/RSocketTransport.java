// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;

/** A transport below both ends of RSocket. Closing it ends its threads. */
public interface RSocketTransport extends AutoCloseable {
  /** Listens; asked once. */
  ServerTransport<? extends Closeable> server();

  /**
   * Connects.
   *
   * @param bound what {@link #server} was bound to
   */
  ClientTransport client(Closeable bound);

  @Override
  void close();
}
