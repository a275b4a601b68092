// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.core.RSocketServer;
import io.rsocket.transport.ClientTransport;
import io.verbena.rsocket.BoundRdmaServer;
import io.verbena.rsocket.RdmaClientTransport;
import io.verbena.rsocket.RdmaServerTransport;
import io.verbena.samples.program.SampleServer;
import java.net.URI;

/**
 * RSocket on an HCA. Compare it with {@link OverTcp}.
 *
 * @param at the server's address, which selects the HCA
 */
record OverRdma(URI at) implements Transport {

  @Override
  public SampleServer serve(RSocketServer server) {
    BoundRdmaServer bound =
        requireNonNull(server.bind(RdmaServerTransport.create(at)).block(LIMIT));
    URI address = bound.address();
    return SampleServer.of(address, bound::dispose);
  }

  @Override
  public ClientTransport client() {
    return RdmaClientTransport.create(at);
  }
}
