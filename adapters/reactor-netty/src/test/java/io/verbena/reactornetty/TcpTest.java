// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaSocketChannel;
import io.verbena.netty.RdmaSockets;
import java.net.ConnectException;
import java.time.Duration;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

class TcpTest {
  private static final Duration LIMIT = Addresses.within(Duration.ofSeconds(30));

  private final RdmaLoopResources loops =
      RdmaLoopResources.create(RdmaSockets.create(Addresses.of("reactor-tcp")));

  @AfterEach
  void close() {
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(10)).block(LIMIT);
    assertThat(loops.isDisposed()).isTrue();
  }

  private TcpServer server() {
    return TcpServer.create().runOn(loops).host("localhost").port(0);
  }

  private TcpClient client(DisposableServer server) {
    return TcpClient.newConnection().runOn(loops).remoteAddress(server::address);
  }

  @Test
  void echoes10Megabytes() {
    int piece = 64 << 10;
    byte[] sent = new byte[160 * piece];
    new Random(7).nextBytes(sent);
    DisposableServer server =
        server().handle((in, out) -> out.send(in.receive().retain())).bindNow(LIMIT);
    Connection client = client(server).connectNow(LIMIT);
    assertThat(client.channel()).isInstanceOf(RdmaSocketChannel.class);

    Flux<ByteBuf> pieces =
        Flux.range(0, sent.length / piece).map(i -> Unpooled.wrappedBuffer(sent, i * piece, piece));
    client.outbound().send(pieces).then().subscribe();
    ByteBuf received = Unpooled.buffer(sent.length);
    client
        .inbound()
        .receive()
        .doOnNext(received::writeBytes)
        .takeUntil(bytes -> received.readableBytes() >= sent.length)
        .blockLast(LIMIT);

    assertThat(received.array()).isEqualTo(sent);
    client.disposeNow(LIMIT);
    server.disposeNow(LIMIT);
  }

  @Test
  void aDisposedServerTakesNoMoreConnectionsAndAwaitsThoseItHas() {
    DisposableServer server =
        server()
            .channelGroup(new DefaultChannelGroup(GlobalEventExecutor.INSTANCE))
            .handle((in, out) -> out.send(in.receive().retain()))
            .bindNow(LIMIT);
    Connection client = client(server).connectNow(LIMIT);
    Queue<String> received = new ConcurrentLinkedQueue<>();
    client.inbound().receive().asString().subscribe(received::add);
    send(client, "before");
    await().atMost(LIMIT).untilAsserted(() -> assertThat(received).containsExactly("before"));

    server.dispose();

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> client(server).connectNow(LIMIT))
                    .hasRootCauseInstanceOf(ConnectException.class));
    send(client, "after");
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(received).containsExactly("before", "after"));
    client.disposeNow(LIMIT);
    server.onDispose().block(LIMIT);
    DisposableServer next =
        server().port(server.port()).handle((in, out) -> in.receive().then()).bindNow(LIMIT);
    assertThat(next.port()).isEqualTo(server.port());
    next.disposeNow(LIMIT);
  }

  private static void send(Connection client, String text) {
    client.outbound().sendString(Mono.just(text)).then().block(LIMIT);
  }

  @Test
  void refusesToBlockOnALoop() throws Exception {
    CompletableFuture<Boolean> nonBlocking = new CompletableFuture<>();
    loops.onServer(true).execute(() -> nonBlocking.complete(Schedulers.isInNonBlockingThread()));

    assertThat(nonBlocking.get(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aClientOfDisposedLoopsFails() {
    loops.disposeLater(Duration.ZERO, LIMIT).block(LIMIT);

    assertThatThrownBy(
            () ->
                TcpClient.newConnection()
                    .runOn(loops)
                    .host("localhost")
                    .port(7000)
                    .connectNow(LIMIT))
        .isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void refusesChannelsThatAreNeitherStreamsNorDatagrams() {
    assertThatThrownBy(() -> loops.onChannel(DomainSocketChannel.class, loops.onClient(true)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("DomainSocketChannel");
  }
}
