// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import io.rsocket.transport.local.LocalClientTransport;
import io.rsocket.transport.local.LocalServerTransport;

/** RSocket's local transport, both ends in the calling thread: the cost of RSocket itself. */
public final class OverLocal implements RSocketTransport {
  private static final String NAME = "verbena-bench";

  @Override
  public ServerTransport<? extends Closeable> server() {
    return LocalServerTransport.create(NAME);
  }

  @Override
  public ClientTransport client(Closeable bound) {
    return LocalClientTransport.create(NAME);
  }

  @Override
  public void close() {}
}
