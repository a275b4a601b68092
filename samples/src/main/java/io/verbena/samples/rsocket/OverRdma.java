package io.verbena.samples.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.core.RSocketServer;
import io.rsocket.transport.ClientTransport;
import io.verbena.rsocket.BoundRdmaServer;
import io.verbena.rsocket.RdmaClientTransport;
import io.verbena.rsocket.RdmaServerTransport;
import java.net.URI;

/** RSocket on an HCA. Hold it against {@link OverTcp}. */
final class OverRdma implements Transport {
  private final BoundRdmaServer bound;

  /**
   * @param address where to listen; chooses the HCA
   */
  OverRdma(RSocketServer server, URI address) {
    bound = requireNonNull(server.bind(RdmaServerTransport.create(address)).block(LIMIT));
  }

  @Override
  public String name() {
    return "RDMA";
  }

  @Override
  public ClientTransport client() {
    return RdmaClientTransport.create(bound.address());
  }

  @Override
  public void close() {
    bound.dispose();
  }
}
