// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;

/** A transport for both ends of RSocket. Closing it ends its threads. */
public interface RSocketTransport extends AutoCloseable {
  /** Returns the server transport. Called once. */
  ServerTransport<? extends Closeable> server();

  /**
   * Returns the client transport.
   *
   * @param bound the bound server of {@link #server}
   */
  ClientTransport client(Closeable bound);

  @Override
  void close();
}
