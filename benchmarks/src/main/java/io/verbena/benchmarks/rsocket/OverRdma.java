// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.rsocket.BoundRdmaServer;
import io.verbena.rsocket.RdmaClientTransport;
import io.verbena.rsocket.RdmaServerTransport;
import java.net.URI;

/** RSocket over an emulated HCA, a completion loop for each end. */
public final class OverRdma implements RSocketTransport {
  private static final URI ADDRESS = URI.create("emulated://verbena-bench");

  private final RdmaTransport servers;
  private final RdmaTransport clients;

  public OverRdma(PollMode mode) {
    RdmaOptions options = RdmaOptions.builder().loops(1).pollMode(mode).build();
    servers = RdmaTransport.create(options);
    clients = RdmaTransport.create(options);
  }

  @Override
  public ServerTransport<? extends Closeable> server() {
    return RdmaServerTransport.create(ADDRESS, servers);
  }

  @Override
  public ClientTransport client(Closeable bound) {
    return RdmaClientTransport.create(((BoundRdmaServer) bound).address(), clients);
  }

  @Override
  public void close() {
    clients.dispose();
    servers.dispose();
  }
}
