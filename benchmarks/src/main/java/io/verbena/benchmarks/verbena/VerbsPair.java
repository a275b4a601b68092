// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** Two connected ends at the verbs SPI, in this JVM. */
final class VerbsPair implements AutoCloseable {
  private static final URI EMULATED = URI.create("emulated://verbena-bench");
  private static final long LIMIT = Duration.ofSeconds(10).toNanos();

  final VerbsEnd client;
  final VerbsEnd server;
  final QueuePair atClient;
  final QueuePair atServer;

  /** Connects a pair on the emulated HCA. */
  VerbsPair() throws InterruptedException, TimeoutException {
    this(EMULATED);
  }

  /** Connects a pair on the HCA of this address. */
  VerbsPair(URI address) throws InterruptedException, TimeoutException {
    client = new VerbsEnd(address);
    server = new VerbsEnd(address);
    ConnectionListener listener = server.keep(server.manager.listen(address, 1));
    ConnectionIdentifier connecting = client.manager.resolve(listener.address(), LIMIT);
    client.await(ConnectionEvent.Type.ADDR_RESOLVED);
    atClient = client.queuePair(connecting);
    connecting.connect(ConnectionParameters.defaults(), LIMIT);
    ConnectionIdentifier accepting =
        server.await(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    atServer = server.queuePair(accepting);
    accepting.accept(ConnectionParameters.defaults());
    client.await(ConnectionEvent.Type.ESTABLISHED);
    server.await(ConnectionEvent.Type.ESTABLISHED);
  }

  @Override
  public void close() {
    try (client;
        server) {
      // Close both ends, even if the first fails.
    }
  }
}
