// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import io.rsocket.core.RSocketServer;
import io.rsocket.transport.ClientTransport;
import io.verbena.samples.program.SampleServer;
import java.time.Duration;

/** Carries the frames to one address: the only part that differs between TCP and RDMA. */
interface Transport {
  /** The time that binding may take. */
  Duration LIMIT = Duration.ofSeconds(30);

  /** Binds a server to the address. */
  SampleServer serve(RSocketServer server);

  /** Connects to the server at the address. */
  ClientTransport client();
}
