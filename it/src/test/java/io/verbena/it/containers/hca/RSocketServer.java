// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.rsocket.Payload;
import io.rsocket.SocketAcceptor;
import io.rsocket.util.DefaultPayload;
import io.verbena.rsocket.BoundRdmaServer;
import io.verbena.rsocket.RdmaServerTransport;
import java.net.URI;
import java.time.Duration;
import reactor.core.publisher.Flux;

/** A program that streams numbers over RSocket to any client until it is terminated. */
public final class RSocketServer {
  static final String READY = "serving RSocket at ";
  static final String ENDED = "stream ended: ";
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private RSocketServer() {}

  /** Runs the program: the URI. */
  public static void main(String[] args) {
    BoundRdmaServer server =
        io.rsocket.core.RSocketServer.create(
                SocketAcceptor.forRequestStream(RSocketServer::numbers))
            .bind(RdmaServerTransport.create(URI.create(args[0])))
            .block(LIMIT);
    System.out.println(READY + server.address());
    server.onClose().block();
  }

  private static Flux<Payload> numbers(Payload request) {
    String[] asked = request.getDataUtf8().split(" ", -1);
    request.release();
    Flux<Integer> numbers = Flux.range(0, Integer.parseInt(asked[0]));
    Duration pause = Duration.ofMillis(Long.parseLong(asked[1]));
    return (pause.isZero() ? numbers : numbers.delayElements(pause))
        .map(number -> DefaultPayload.create(Integer.toString(number)))
        .doFinally(how -> System.out.println(ENDED + how));
  }
}
