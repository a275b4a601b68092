package io.verbena.samples.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.core.RSocketServer;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;

/** RSocket as it is. Hold it against {@link OverRdma}. */
final class OverTcp implements Transport {
  private final CloseableChannel bound;

  OverTcp(RSocketServer server) {
    bound = requireNonNull(server.bind(TcpServerTransport.create("localhost", 0)).block(LIMIT));
  }

  @Override
  public String name() {
    return "TCP";
  }

  @Override
  public ClientTransport client() {
    return TcpClientTransport.create(bound.address());
  }

  @Override
  public void close() {
    bound.dispose();
  }
}
