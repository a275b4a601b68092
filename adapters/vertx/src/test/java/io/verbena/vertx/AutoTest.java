// SPDX-License-Identifier: Apache-2.0
package io.verbena.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.Channel;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.AutoSocketChannel;
import io.verbena.netty.RdmaChannelOption;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import io.vertx.core.transport.Transport;
import java.net.URI;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Vert.x servers and clients on hosts with and without RDMA. */
@Tag("once")
class AutoTest {
  private static final Duration LIMIT = Addresses.within(Duration.ofSeconds(30));
  private static final String HOST = "localhost";

  private final Vertx auto =
      build(transport(Addresses.of("vertx-auto")).orTcp(Addresses.timeForRdma()));
  private final Vertx sockets = build(Transport.NIO);

  private static RdmaVertxTransport transport(URI hca) {
    return RdmaVertxTransport.create(
        hca, RdmaOptions.builder().pollMode(PollMode.EVENT).eagerSize(16 << 10).build());
  }

  private static Vertx build(Transport transport) {
    return Vertx.builder()
        .with(new VertxOptions().setEventLoopPoolSize(2))
        .withTransport(transport)
        .build();
  }

  @AfterEach
  void close() throws Exception {
    await(auto.close());
    await(sockets.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future
        .toCompletionStage()
        .toCompletableFuture()
        .get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
  }

  private static Buffer random(int length) {
    byte[] bytes = new byte[length];
    new Random(7).nextBytes(bytes);
    return Buffer.buffer(bytes);
  }

  private static NetServer echo(Vertx on) throws Exception {
    return await(
        on.createNetServer().connectHandler(socket -> socket.pipeTo(socket)).listen(0, HOST));
  }

  private static String mediumOf(NetSocket socket) {
    return ((NetSocketInternal) socket)
        .channelHandlerContext()
        .channel()
        .attr(AutoSocketChannel.MEDIUM)
        .get();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void takesWhatThePeerHas(boolean rdma) throws Exception {
    NetServer server = echo(rdma ? auto : sockets);
    Buffer sent = random(1 << 20);
    Buffer received = Buffer.buffer();
    Promise<Buffer> whole = Promise.promise();

    NetClient client = auto.createNetClient();
    NetSocket socket = await(client.connect(server.actualPort(), HOST));
    socket.handler(
        piece -> {
          received.appendBuffer(piece);
          if (received.length() == sent.length()) {
            whole.complete(received);
          }
        });
    socket.write(sent);

    assertThat(await(whole.future())).matches(sent::equals, "what was sent");
    assertThat(mediumOf(socket)).isEqualTo(rdma ? Addresses.scheme() : AutoSocketChannel.TCP);
    await(client.close());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void servesBothKindsOfClient(boolean rdma) throws Exception {
    Buffer body = random(1 << 20);
    HttpServer server =
        await(
            auto.createHttpServer()
                .requestHandler(request -> request.response().end(body))
                .listen(0, HOST));
    HttpClient client = (rdma ? auto : sockets).createHttpClient();

    Future<Buffer> answer =
        client
            .request(HttpMethod.GET, server.actualPort(), HOST, "/")
            .compose(HttpClientRequest::send)
            .compose(HttpClientResponse::body);

    assertThat(await(answer)).matches(body::equals, "what was sent");
    await(client.close());
  }

  @Test
  void triesRdmaForAsLongAsItIsTold() {
    RdmaVertxTransport plain = transport(Addresses.of("vertx-auto"));

    Channel channel =
        plain.orTcp(Duration.ofSeconds(3)).implementation().channelFactory(false).newChannel();

    assertThat(channel.config().getOption(RdmaChannelOption.RDMA_TIMEOUT_MILLIS)).isEqualTo(3000);
    assertThatThrownBy(() -> plain.orTcp(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("patience: PT0S (expected: 1 to 2147483647 ms)");
    assertThatThrownBy(() -> plain.orTcp(Duration.ofSeconds(Long.MAX_VALUE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("(expected: 1 to 2147483647 ms)");
  }

  @Test
  void needsNoHca() throws Exception {
    Vertx without = build(transport(URI.create("disni://127.0.0.1")).orTcp());
    NetServer server = echo(without);

    NetClient client = without.createNetClient();

    NetSocket socket = await(client.connect(server.actualPort(), HOST));

    assertThat(mediumOf(socket)).isEqualTo(AutoSocketChannel.TCP);
    await(client.close());
    await(without.close());
  }
}
