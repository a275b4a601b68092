package io.verbena.samples.http;

import java.util.function.Consumer;
import java.util.zip.CRC32C;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerRoutes;

/** What the server answers. It knows nothing of what carries the requests. */
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

  /** What {@code GET /greeting/NAME} answers. */
  static String greeting(String name) {
    return "hello " + name;
  }

  /** Of a body of any length, a piece after the other. */
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
