// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import java.net.URI;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** A program that echoes messages at a URI until it is terminated. */
public final class EchoServer {
  static final String READY = "serving at ";
  static final String ENDED = "connection ended: ";
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private EchoServer() {}

  /** Runs the program: the URI. */
  public static void main(String[] args) {
    RdmaServer server =
        Counts.countingTransport().bind(URI.create(args[0]), EchoServer::echo).block(LIMIT);
    System.out.println(READY + server.address());
    server.onClose().block();
  }

  private static Mono<Void> echo(RdmaConnection connection) {
    return connection
        .send(connection.receive())
        .doOnTerminate(() -> System.out.println(ENDED + connection.peer()));
  }
}
