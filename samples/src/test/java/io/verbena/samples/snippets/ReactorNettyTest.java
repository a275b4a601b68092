// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.netty.RdmaSockets;
import io.verbena.reactornetty.RdmaLoopResources;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** Shows Reactor Netty's clients and servers. */
class ReactorNettyTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @Test
  void aRequestIsAnswered() {
    // snippet: reactor-netty
    RdmaSockets sockets = RdmaSockets.create(URI.create("emulated://http"));
    LoopResources rdma = RdmaLoopResources.create(sockets);
    DisposableServer server =
        HttpServer.create()
            .runOn(rdma)
            .host("localhost")
            .port(8080)
            .handle((request, response) -> response.sendString(Mono.just("hello")))
            .bindNow();
    String hello =
        HttpClient.create()
            .runOn(rdma)
            .get()
            .uri("http://localhost:8080/")
            .responseContent()
            .aggregate()
            .asString()
            .block();
    // end

    assertThat(hello).isEqualTo("hello");
    server.disposeNow(LIMIT);
    sockets.close();
  }
}
