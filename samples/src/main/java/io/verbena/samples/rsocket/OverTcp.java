// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.core.RSocketServer;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.verbena.samples.program.SampleServer;
import java.net.InetSocketAddress;
import java.net.URI;

/**
 * RSocket on TCP. Compare it with {@link OverRdma}.
 *
 * @param at the server's address
 */
record OverTcp(InetSocketAddress at) implements Transport {

  @Override
  public SampleServer serve(RSocketServer server) {
    CloseableChannel bound =
        requireNonNull(server.bind(TcpServerTransport.create(at)).block(LIMIT));
    URI address = URI.create("tcp://" + at.getHostString() + ":" + bound.address().getPort());
    return SampleServer.of(address, bound::dispose);
  }

  @Override
  public ClientTransport client() {
    return TcpClientTransport.create(at);
  }
}
