// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.verbena.AcceptDecision;
import io.verbena.AcceptHook;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RejectReason;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/** Tests limits on a server's connections, and the release of their slots. */
class ConnectionLimitTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final RdmaTransport clients = RdmaTransport.create(Ends.options().build());
  private RdmaTransport servers = clients;
  private RdmaServer server;

  @AfterEach
  void dispose() {
    clients.dispose();
    servers.dispose();
  }

  private void bind(RdmaOptions.Builder options) {
    bind(options, request -> Mono.just(AcceptDecision.accept()));
  }

  private void bind(RdmaOptions.Builder options, AcceptHook hook) {
    servers = RdmaTransport.create(options.meters(new VerbenaMeters(registry)).build());
    server = servers.bind(Addresses.of("limited"), hook, c -> c.onClose()).block(Ends.LIMIT);
  }

  private RdmaConnection connect() {
    return clients.connect(Addresses.reach(server.address())).block(Ends.LIMIT);
  }

  private RdmaConnectException refused() {
    return catchThrowableOfType(RdmaConnectException.class, this::connect);
  }

  private static int code(RdmaConnectException refusal) {
    RejectReason rejection = refusal.rejection();
    assertThat(rejection).as(refusal.getMessage()).isNotNull();
    return rejection.code();
  }

  private double refusals(String reason) {
    return registry.get("verbena.connections.refused").tag("reason", reason).counter().count();
  }

  /** Waits until the one slot is free and a connect succeeds. */
  private void assertThatOneConnects() {
    await()
        .atMost(Ends.LIMIT)
        .ignoreException(RdmaConnectException.class)
        .until(this::connect, connection -> true);
  }

  @Test
  void refusesAConnectionBeyondTheLimitUntilAnotherEnds() {
    bind(Ends.options().maxConnections(2));
    RdmaConnection first = connect();
    connect();

    RdmaConnectException refusal = refused();

    assertThat(code(refusal)).isEqualTo(RejectReason.CONNECTION_LIMIT);
    assertThat(refusal).hasMessageContaining("the server has 2 connections, its limit");
    assertThat(refusals("connection_limit")).isEqualTo(1);
    first.dispose();
    assertThatOneConnects();
    assertThat(code(refused())).isEqualTo(RejectReason.CONNECTION_LIMIT);
  }

  @Test
  void refusesAConnectionBeyondThePeersLimitUntilAnotherEnds() {
    bind(Ends.options().maxConnectionsPerPeer(1));
    RdmaConnection first = connect();

    RdmaConnectException refusal = refused();

    assertThat(code(refusal)).isEqualTo(RejectReason.PEER_LIMIT);
    assertThat(refusal).hasMessageContaining("the server has 1 connections of ");
    assertThat(refusals("peer_limit")).isEqualTo(1);
    first.close().block(Ends.LIMIT);
    assertThatOneConnects();
  }

  @Test
  void eachServerHasItsOwnLimit() {
    bind(Ends.options().maxConnections(1));
    connect();
    server = servers.bind(Addresses.of("second"), c -> c.onClose()).block(Ends.LIMIT);

    connect();

    assertThat(code(refused())).isEqualTo(RejectReason.CONNECTION_LIMIT);
  }

  @Test
  void aRejectedConnectionGivesItsSlotBack() {
    boolean[] rejects = {true};
    bind(
        Ends.options().maxConnections(1),
        request ->
            Mono.just(rejects[0] ? AcceptDecision.reject(7, "no") : AcceptDecision.accept()));

    for (int i = 0; i < 3; i++) {
      assertThat(code(refused())).isEqualTo(7);
    }
    rejects[0] = false;
    assertThatOneConnects();
  }

  @Test
  void aConnectionWhoseHookNeverAnswersGivesItsSlotBack() {
    boolean[] answers = {false};
    bind(
        Ends.options().maxConnections(1).connectTimeout(Ends.SHORT),
        request -> answers[0] ? Mono.just(AcceptDecision.accept()) : Mono.never());

    assertThat(code(refused())).isEqualTo(RejectReason.HOOK_FAILED);
    answers[0] = true;
    assertThatOneConnects();
  }

  @Test
  void aClientThatGivesUpGivesItsSlotBack() {
    Sinks.One<AcceptDecision> answer = Sinks.one();
    bind(Ends.options().maxConnections(1), request -> answer.asMono());
    Disposable connect = clients.connect(Addresses.reach(server.address())).subscribe();
    await().atMost(Ends.LIMIT).until(() -> answer.currentSubscriberCount() == 1);

    connect.dispose();
    answer.tryEmitValue(AcceptDecision.accept());

    assertThatOneConnects();
  }

  @Test
  void aClientOfAnotherProtocolTakesNoSlot() throws Exception {
    bind(Ends.options().maxConnections(1));
    try (RawPeer stranger = RawPeer.to(server.address())) {
      stranger.connect(ByteBuffer.wrap(Ends.bytes(56, 1)));
    }

    assertThatOneConnects();
  }

  @Test
  void aConnectionThatFindsNoMemoryGivesItsSlotBack() {
    bind(Ends.options().maxConnections(1).maxRegisteredBytes(1 << 16).eagerSize(1 << 16));

    for (int i = 0; i < 3; i++) {
      assertThat(refused()).hasMessageContaining("no resources left");
    }
  }

  @Test
  void slotsAreGivenBackOnceWhateverEndsTheConnection() {
    int most = 4;
    bind(Ends.options().maxConnections(most));
    Mono<RdmaConnection> patient =
        clients
            .connect(Addresses.reach(server.address()))
            .retryWhen(
                Retry.fixedDelay(Long.MAX_VALUE, Duration.ofMillis(1))
                    .filter(RdmaConnectException.class::isInstance));
    for (int i = 0; i < Addresses.rounds(50); i++) {
      RdmaConnection connection = patient.block(Ends.LIMIT);
      clients
          .connect(Addresses.reach(server.address()))
          .doOnNext(RdmaConnection::dispose)
          .subscribe(c -> {}, e -> {})
          .dispose();
      if (i % 2 == 0) {
        connection.dispose();
      } else {
        connection.close().onErrorComplete(RdmaException.class).block(Ends.LIMIT);
      }
    }
    await().atMost(Ends.LIMIT).until(() -> server.connectionCount() == 0);
    for (int i = 0; i < most; i++) {
      assertThatOneConnects();
    }
    assertThat(code(refused())).isEqualTo(RejectReason.CONNECTION_LIMIT);
  }
}
