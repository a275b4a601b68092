// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaSocketChannel;
import io.verbena.netty.RdmaSockets;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

class HttpTest {
  private static final Duration LIMIT = Addresses.within(Duration.ofSeconds(30));

  private final RdmaLoopResources loops =
      RdmaLoopResources.create(RdmaSockets.create(Addresses.of("reactor-http")));
  private final Set<RdmaSocketChannel> connections = ConcurrentHashMap.newKeySet();
  private ConnectionProvider pool;
  private DisposableServer server;

  @BeforeEach
  void open() {
    pool = ConnectionProvider.builder("rdma").maxConnections(8).pendingAcquireMaxCount(100).build();
    server =
        HttpServer.create()
            .runOn(loops)
            .host("localhost")
            .port(0)
            .protocol(HttpProtocol.HTTP11, HttpProtocol.H2C)
            .doOnConnection(connection -> connections.add(connectionOf(connection.channel())))
            .route(
                routes ->
                    routes
                        .get(
                            "/hello/{name}",
                            (request, response) ->
                                response.sendString(Mono.just("hello " + request.param("name"))))
                        .get(
                            "/version",
                            (request, response) ->
                                response.sendString(Mono.just(request.version().text())))
                        .post(
                            "/echo",
                            (request, response) ->
                                response.send(request.receive().aggregate().retain())))
            .bindNow(LIMIT);
  }

  @AfterEach
  void close() {
    pool.disposeLater().block(LIMIT);
    server.disposeNow(LIMIT);
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(10)).block(LIMIT);
  }

  /** Returns the connection of a channel, which with HTTP/2 is a stream of its parent channel. */
  private static RdmaSocketChannel connectionOf(Channel channel) {
    return (RdmaSocketChannel) (channel instanceof Http2StreamChannel ? channel.parent() : channel);
  }

  private HttpClient client() {
    return client(pool);
  }

  private HttpClient client(ConnectionProvider pool) {
    return HttpClient.create(pool).runOn(loops).host("localhost").port(server.port());
  }

  private static Mono<String> hello(HttpClient client, String name) {
    return client.get().uri("/hello/" + name).responseContent().aggregate().asString();
  }

  private static Mono<byte[]> echo(HttpClient client, byte[] body) {
    return client
        .post()
        .uri("/echo")
        .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
        .responseContent()
        .aggregate()
        .asByteArray();
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  @Test
  void answersAGet() {
    assertThat(hello(client(), "verbena").block(LIMIT)).isEqualTo("hello verbena");
  }

  @Test
  void answersAPostWithItsBody() {
    byte[] body = bytes(1 << 20);

    assertThat(echo(client(), body).block(LIMIT)).isEqualTo(body);
  }

  @Test
  void speaksHttp2() {
    HttpClient client = client().protocol(HttpProtocol.H2C);
    byte[] body = bytes(1 << 20);

    assertThat(client.get().uri("/version").responseContent().aggregate().asString().block(LIMIT))
        .isEqualTo("HTTP/2.0");
    assertThat(echo(client, body).block(LIMIT)).isEqualTo(body);
    assertThat(connections).hasSize(1);
  }

  @Test
  void answers100RequestsAtOnce() {
    assertAnswers100RequestsAtOnce(client());

    assertThat(connections).hasSizeLessThanOrEqualTo(8);
  }

  @Test
  void answers100RequestsAtOnceOverHttp2() {
    assertAnswers100RequestsAtOnce(client().protocol(HttpProtocol.H2C));
  }

  private static void assertAnswers100RequestsAtOnce(HttpClient client) {
    Set<Integer> right = ConcurrentHashMap.newKeySet();

    Flux.range(0, 100)
        .flatMap(
            i -> {
              byte[] body = bytes(10_000 + i);
              return echo(client, body)
                  .doOnNext(
                      answer -> {
                        assertThat(answer).isEqualTo(body);
                        right.add(i);
                      });
            },
            100)
        .blockLast(LIMIT);

    assertThat(right).hasSize(100);
  }

  @Test
  void usesAConnectionOfThePoolAgain() {
    ConnectionProvider single = ConnectionProvider.create("single", 1);

    for (int i = 0; i < 10; i++) {
      assertThat(hello(client(single), "again").block(LIMIT)).isEqualTo("hello again");
    }

    assertThat(connections).hasSize(1);
    single.disposeLater().block(LIMIT);
  }
}
