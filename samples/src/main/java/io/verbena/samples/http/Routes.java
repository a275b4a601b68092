// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.http;

import java.util.function.Consumer;
import java.util.zip.CRC32C;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerRoutes;

/** The answers of the server, over any transport. */
final class Routes implements Consumer<HttpServerRoutes> {

  @Override
  public void accept(HttpServerRoutes routes) {
    routes
        .get(
            "/greeting/{name}",
            (request, response) ->
                response.sendString(Mono.just(greeting(String.valueOf(request.param("name"))))))
        .post("/checksum", (request, response) -> response.sendString(checksum(request)));
  }

  /** Returns the answer to {@code GET /greeting/NAME}. */
  static String greeting(String name) {
    return "hello " + name;
  }

  /** Computes the checksum of a body of any length, piece by piece. */
  private static Mono<String> checksum(HttpServerRequest request) {
    return request
        .receive()
        .reduceWith(
            CRC32C::new,
            (checksum, piece) -> {
              checksum.update(piece.nioBuffer());
              return checksum;
            })
        .map(checksum -> Long.toHexString(checksum.getValue()));
  }
}
