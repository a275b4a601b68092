// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.rsocket.ConnectionSetupPayload;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.util.DefaultPayload;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class RSocketTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final RdmaTransport transport =
      RdmaTransport.create(Ends.options().meters(new VerbenaMeters(registry)).build());

  @AfterEach
  void dispose() {
    transport.dispose();
  }

  private static Payload payload(String data) {
    return DefaultPayload.create(data);
  }

  @Test
  void answersOverTheTransportThatAllShare() {
    BoundRdmaServer server =
        RSocketServer.create(
                SocketAcceptor.forRequestResponse(
                    request -> Mono.just(payload("hello " + request.getDataUtf8()))))
            .bind(RdmaServerTransport.create(Addresses.of("rsocket-shared")))
            .block(Ends.LIMIT);
    RSocket client =
        RSocketConnector.create()
            .connect(RdmaClientTransport.create(server.address()))
            .block(Ends.LIMIT);

    assertThat(client.requestResponse(payload("RDMA")).map(Payload::getDataUtf8).block(Ends.LIMIT))
        .isEqualTo("hello RDMA");
    assertThat(server.connectionCount()).isOne();

    client.dispose();
    await().atMost(Ends.LIMIT).until(() -> server.connectionCount() == 0);
    server.dispose();
    server.onClose().block(Ends.LIMIT);
    assertThat(server.isDisposed()).isTrue();
  }

  @Test
  void aServerAndAClientThatBringNoTransportHaveALoopEach() {
    AtomicReference<Thread> atServer = new AtomicReference<>();
    AtomicReference<Thread> atClient = new AtomicReference<>();
    BoundRdmaServer server =
        RSocketServer.create(
                SocketAcceptor.forRequestResponse(
                    request -> {
                      atServer.set(Thread.currentThread());
                      return Mono.just(payload(""));
                    }))
            .bind(RdmaServerTransport.create(Addresses.of("rsocket-loops")))
            .block(Ends.LIMIT);
    RSocket client =
        RSocketConnector.create()
            .connect(RdmaClientTransport.create(server.address()))
            .block(Ends.LIMIT);

    client
        .requestResponse(payload(""))
        .doOnNext(answer -> atClient.set(Thread.currentThread()))
        .block(Ends.LIMIT);

    assertThat(atServer.get()).isNotNull().isNotSameAs(atClient.get());
    client.dispose();
    server.dispose();
    server.onClose().block(Ends.LIMIT);
  }

  @Test
  void cancelsAnAcceptorWhoseClientHasGone() {
    AtomicReference<ConnectionSetupPayload> asked = new AtomicReference<>();
    CompletableFuture<Void> cancelled = new CompletableFuture<>();
    BoundRdmaServer server =
        RSocketServer.create(
                (setup, socket) -> {
                  asked.set(setup);
                  return Mono.<RSocket>never().doOnCancel(() -> cancelled.complete(null));
                })
            .bind(RdmaServerTransport.create(Addresses.of("rsocket-acceptor"), transport))
            .block(Ends.LIMIT);
    RSocket client =
        RSocketConnector.create()
            .connect(RdmaClientTransport.create(server.address(), transport))
            .block(Ends.LIMIT);
    await().atMost(Ends.LIMIT).until(() -> asked.get() != null);

    client.dispose();

    assertThat(cancelled).succeedsWithin(Ends.LIMIT);
    await().atMost(Ends.LIMIT).until(() -> asked.get().refCnt() == 0);
    server.dispose();
  }

  @Test
  void pacesAStreamByTheDemandOfItsSubscriber() {
    BoundRdmaServer server =
        RSocketServer.create(
                SocketAcceptor.forRequestStream(
                    request -> Flux.range(0, 1000).map(n -> payload("" + n))))
            .bind(RdmaServerTransport.create(Addresses.of("rsocket-stream"), transport))
            .block(Ends.LIMIT);
    RSocket client =
        RSocketConnector.create()
            .connect(RdmaClientTransport.create(server.address(), transport))
            .block(Ends.LIMIT);

    assertThat(
            client
                .requestStream(payload(""))
                .limitRate(7)
                .map(Payload::getDataUtf8)
                .collectList()
                .block(Ends.LIMIT))
        .isEqualTo(Flux.range(0, 1000).map(n -> "" + n).collectList().block());

    // Each frame is a message of the reactive transport.
    assertThat(messagesReceived()).isGreaterThan(1000);
    assertThat(gauge("backlog.queues")).isEqualTo(2);
  }

  @Test
  void keepsAConnectionAliveWhileRegisteredMemoryIsFull() {
    RdmaTransport limited =
        RdmaTransport.create(
            Ends.options()
                .maxRegisteredBytes(16 << 20)
                .meters(new VerbenaMeters(registry))
                .build());
    BoundRdmaServer server =
        RSocketServer.create(
                SocketAcceptor.forRequestResponse(
                    request -> Mono.just(payload("hello " + request.getDataUtf8()))))
            .bind(RdmaServerTransport.create(Addresses.of("rsocket-full"), limited))
            .block(Ends.LIMIT);
    RSocket client =
        RSocketConnector.create()
            .keepAlive(Duration.ofMillis(50), Ends.LIMIT)
            .connect(RdmaClientTransport.create(server.address(), limited))
            .block(Ends.LIMIT);
    assertThat(client.requestResponse(payload("1")).map(Payload::getDataUtf8).block(Ends.LIMIT))
        .isEqualTo("hello 1");

    RegisteredBuffers all = RegisteredBuffers.all(limited.memory(server.address()));
    try {
      double before = messagesReceived();
      // Keep-alives and their answers.
      await().atMost(Ends.LIMIT).until(() -> messagesReceived() >= before + 10);
    } finally {
      all.release();
    }

    assertThat(client.requestResponse(payload("2")).map(Payload::getDataUtf8).block(Ends.LIMIT))
        .isEqualTo("hello 2");
    assertThat(client.isDisposed()).isFalse();
    limited.dispose();
  }

  private double messagesReceived() {
    return registry
        .get("verbena.messages")
        .tags("adapter", "reactor", "direction", "in")
        .functionCounter()
        .count();
  }

  @Test
  void failsToConnectWhereNobodyListens() {
    Mono<RSocket> client =
        RSocketConnector.create()
            .connect(RdmaClientTransport.create(Addresses.of("rsocket-nobody"), transport));
    assertThatThrownBy(() -> client.block(Ends.LIMIT)).isInstanceOf(RdmaConnectException.class);
  }

  @Test
  void failsWhatIsPendingAndTellsWhyWhereThePeerStopsReading() {
    RdmaServer deaf =
        transport.bind(Addresses.of("rsocket-deaf"), connection -> Mono.never()).block(Ends.LIMIT);
    RdmaClientTransport small =
        RdmaClientTransport.create(deaf.address(), transport).sendQueueLimit(1 << 20);
    RSocket client = RSocketConnector.create().connect(small).block(Ends.LIMIT);
    CompletableFuture<Payload> pending = client.requestResponse(payload("")).toFuture();

    String data = "x".repeat(1000);
    for (int i = 0; i < 2 * Ends.options().build().window(); i++) {
      client.fireAndForget(payload(data)).block(Ends.LIMIT);
    }
    assertThat(gauge("backlog")).isBetween(1e5, 5e5).isEqualTo((double) small.sendQueues().bytes());
    assertThat(gauge("backlog.most")).isEqualTo(gauge("backlog"));
    assertThat(gauge("backlog.limit")).isEqualTo(1 << 20);
    assertThat(gauge("backlog.queues")).isOne();

    client.fireAndForget(payload("x".repeat(1 << 20))).block(Ends.LIMIT);
    assertThat(pending)
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .withCauseInstanceOf(ClosedChannelException.class);
    await()
        .atMost(Ends.LIMIT)
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> client.requestResponse(payload("")).block(Ends.LIMIT))
                    .isInstanceOf(SendQueueLimitException.class));
    assertThat(gauge("backlog")).isZero();
    assertThat(gauge("backlog.queues")).isZero();
  }

  private double gauge(String name) {
    return registry.get("verbena." + name).tag("adapter", "rsocket").gauge().value();
  }

  @Test
  void takesNoLimitBelowOne() {
    assertThatThrownBy(
            () ->
                RdmaClientTransport.create(Addresses.of("rsocket-limit"), transport)
                    .sendQueueLimit(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0 (expected: > 0)");
  }

  @Test
  void promisesFramesNoLongerThanTheTransportTakes() {
    RdmaTransport narrow = RdmaTransport.create(Ends.options().maxMessageSize(5000).build());
    assertThat(RdmaServerTransport.create(Addresses.of("any"), narrow).maxFrameLength())
        .isEqualTo(5000);
    assertThat(RdmaClientTransport.create(Addresses.of("any"), transport).maxFrameLength())
        .isEqualTo(0xFFFFFF);
    narrow.dispose();
  }
}
