// SPDX-License-Identifier: Apache-2.0
package io.verbena.vertx;

import static io.vertx.core.http.HttpMethod.GET;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The program that docs/adapters.md quotes. */
class SnippetTest {
  private static final long SECONDS = 30;

  @Test
  void aRequestIsAnswered() throws Exception {
    // snippet: vertx
    Vertx vertx =
        Vertx.builder()
            .withTransport(RdmaVertxTransport.create(URI.create("emulated://vertx")))
            .build();
    HttpClient client = vertx.createHttpClient();
    Future<Buffer> hello =
        vertx
            .createHttpServer()
            .requestHandler(request -> request.response().end("hello"))
            .listen(8080, "localhost")
            .compose(server -> client.request(GET, 8080, "localhost", "/"))
            .compose(HttpClientRequest::send)
            .compose(HttpClientResponse::body);
    // end

    assertThat(await(hello).toString()).isEqualTo("hello");
    await(client.close());
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
  }
}
