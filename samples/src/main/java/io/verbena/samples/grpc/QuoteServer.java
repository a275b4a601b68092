// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.Server;
import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.SampleServer;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A running server of quotes. */
final class QuoteServer implements SampleServer {
  /** The symbol for which it has quotes. */
  static final String SYMBOL = "VRBN";

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Transport transport;
  private final Server server;
  private final URI address;

  private QuoteServer(Transport transport, Server server, URI address) {
    this.transport = transport;
    this.server = server;
    this.address = address;
  }

  /**
   * Starts the server.
   *
   * @param transport closed with the server
   */
  static QuoteServer start(Transport transport, URI address) throws IOException {
    try {
      Server server =
          transport
              .server(Addresses.socket(address))
              .addService(new QuoteService(Set.of(SYMBOL)))
              .build()
              .start();
      return new QuoteServer(transport, server, Addresses.withPort(address, server.getPort()));
    } catch (IOException | RuntimeException e) {
      transport.close();
      throw e;
    }
  }

  @Override
  public URI address() {
    return address;
  }

  @Override
  public void close() {
    try {
      server.shutdownNow().awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    transport.close();
  }
}
