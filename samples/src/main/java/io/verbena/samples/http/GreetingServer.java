// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.http;

import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.SampleServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import reactor.netty.DisposableServer;

/** A running HTTP server that answers by {@link Routes}. */
final class GreetingServer {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private GreetingServer() {}

  /**
   * Starts the server.
   *
   * @param transport closed with the server
   */
  static SampleServer start(Transport transport, URI address) {
    InetSocketAddress at = Addresses.socket(address);
    try {
      DisposableServer server =
          transport.server().bindAddress(() -> at).route(new Routes()).bindNow(LIMIT);
      return SampleServer.of(
          Addresses.withPort(address, server.port()),
          () -> {
            server.disposeNow(LIMIT);
            transport.close();
          });
    } catch (RuntimeException e) {
      transport.close();
      throw e;
    }
  }
}
