// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.DefaultPayload;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.AutoSocketChannel;
import io.verbena.netty.RdmaSockets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/** Tests Reactor Netty, and RSocket on it, with servers on hosts with and without RDMA. */
@Tag("once")
class AutoTest {
  private static final Duration LIMIT = Addresses.within(Duration.ofSeconds(30));

  /**
   * Without a quiet period Netty may end a busy loop before the loop has closed its sockets, and
   * warns of each socket.
   */
  private static final Duration QUIET = Duration.ofMillis(100);

  private final RdmaSockets rdmaOrTcp =
      RdmaSockets.builder(Addresses.of("reactor-auto")).orTcp(Addresses.timeForRdma()).build();
  private final LoopResources auto = RdmaLoopResources.create(rdmaOrTcp);
  private final LoopResources sockets = LoopResources.create("sockets", 1, true);
  private final ConnectionProvider pool = ConnectionProvider.create("auto", 1);
  private final Queue<String> media = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() {
    pool.disposeLater().block(LIMIT);
    rdmaOrTcp.close();
    sockets.disposeLater(QUIET, LIMIT).block(LIMIT);
  }

  private LoopResources loops(boolean rdma) {
    return rdma ? auto : sockets;
  }

  private static String host() {
    return Addresses.areEmulated() ? "localhost" : Addresses.of("reactor-auto").getHost();
  }

  private void note(Channel channel) {
    media.add(channel.attr(AutoSocketChannel.MEDIUM).get());
  }

  private static String medium(boolean rdma) {
    return rdma ? Addresses.scheme() : AutoSocketChannel.TCP;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void http(boolean rdma) {
    DisposableServer server =
        HttpServer.create()
            .runOn(loops(rdma), false)
            .host(host())
            .port(0)
            .handle((request, response) -> response.sendString(Mono.just("hello")))
            .bindNow(LIMIT);

    String answer =
        HttpClient.create(pool)
            .runOn(auto)
            .doOnConnected(connection -> note(connection.channel()))
            .get()
            .uri("http://" + host() + ":" + server.port() + "/")
            .responseContent()
            .aggregate()
            .asString()
            .block(LIMIT);

    assertThat(answer).isEqualTo("hello");
    assertThat(media).containsExactly(medium(rdma));
    server.disposeNow(LIMIT);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void rsocket(boolean rdma) {
    CloseableChannel server =
        RSocketServer.create(SocketAcceptor.forRequestResponse(Mono::just))
            .bind(
                TcpServerTransport.create(
                    TcpServer.create().runOn(loops(rdma), false).host(host()).port(0)))
            .block(LIMIT);
    RSocket client =
        RSocketConnector.create()
            .connect(
                TcpClientTransport.create(
                    TcpClient.create(pool)
                        .runOn(auto)
                        .doOnConnected(connection -> note(connection.channel()))
                        .host(host())
                        .port(server.address().getPort())))
            .block(LIMIT);

    String answer =
        client
            .requestResponse(DefaultPayload.create("hello"))
            .map(payload -> payload.getDataUtf8())
            .block(LIMIT);

    assertThat(answer).isEqualTo("hello");
    assertThat(media).containsExactly(medium(rdma));
    client.dispose();
    client.onClose().onErrorComplete().block(LIMIT);
    server.dispose();
    server.onClose().block(LIMIT);
  }
}
