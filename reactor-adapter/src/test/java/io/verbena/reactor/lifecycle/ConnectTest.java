// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.verbena.HandshakeException;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTimeoutException;
import io.verbena.RdmaTransport;
import io.verbena.UnknownSchemeException;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.Rejection;
import io.verbena.verbs.ConnectionEvent;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

class ConnectTest {
  private final RdmaTransport transport =
      RdmaTransport.create(Ends.options().connectTimeout(Ends.SHORT).build());

  /** Fails if anything is still open. */
  @AfterEach
  void dispose() {
    transport.dispose();
  }

  @Test
  void failsWhenNobodyListens() {
    URI nobody = Addresses.reach(Addresses.of("nobody"));
    assertThatThrownBy(() -> transport.connect(nobody).block(Ends.LIMIT))
        .isInstanceOf(RdmaConnectException.class)
        .hasMessageContaining(nobody.getAuthority());
  }

  @Test
  void namesTheSchemesThatArePresent() {
    assertThatThrownBy(() -> transport.connect(URI.create("nothing://x")).block(Ends.LIMIT))
        .isInstanceOf(UnknownSchemeException.class)
        .hasMessageContaining("nothing")
        .hasMessageContaining(Addresses.scheme());
    assertThatThrownBy(() -> transport.memory(URI.create("nothing://x")))
        .isInstanceOf(UnknownSchemeException.class);
  }

  @Test
  void refusesASecondListener() {
    URI address = Addresses.of("taken");
    RdmaServer first = transport.bind(address, c -> Mono.never()).block(Ends.LIMIT);

    assertThatThrownBy(() -> transport.bind(address, c -> Mono.never()).block(Ends.LIMIT))
        .isInstanceOf(RdmaConnectException.class)
        .hasMessageContaining("somebody listens there already");
    first.dispose();
    assertThat(transport.bind(address, c -> Mono.never()).block(Ends.LIMIT)).isNotNull();
  }

  @Test
  void givesUpWhenTheServerDoesNotAnswer() throws Exception {
    try (RawPeer server = RawPeer.listening()) {
      CompletableFuture<RdmaConnection> connection = transport.connect(server.address()).toFuture();
      server.ignore();

      assertThat(connection)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(RdmaTimeoutException.class)
          .withMessageContaining(ConnectionEvent.NO_ANSWER);
    }
  }

  @Test
  void givesUpWhenItIsCancelled() throws Exception {
    try (RawPeer server = RawPeer.listening()) {
      Disposable connect = transport.connect(server.address()).subscribe();
      server.ignore();
      connect.dispose();
    }
    assertThat(transport.memory(Addresses.of("x")).registeredBytes()).isGreaterThanOrEqualTo(0);
  }

  @Test
  void survivesACancellationAtAnyMoment() throws Exception {
    RdmaServer server =
        transport.bind(Addresses.of("cancelled"), c -> c.onClose()).block(Ends.LIMIT);
    for (int i = 0; i < Addresses.rounds(300); i++) {
      Taker connect = new Taker();
      transport.connect(Addresses.reach(server.address())).subscribe(connect);
      for (int spin = 0; spin < i * 50; spin++) {
        Thread.onSpinWait();
      }
      connect.cancel();
    }
    await().atMost(Ends.LIMIT).until(() -> server.connectionCount() == 0);
  }

  /**
   * Disposes a connection even if it arrives during the cancel; Reactor's own subscribers drop it
   * then.
   */
  private static final class Taker implements CoreSubscriber<RdmaConnection> {
    private volatile @Nullable Subscription upstream;

    @Override
    public void onSubscribe(Subscription subscription) {
      upstream = subscription;
      subscription.request(1);
    }

    @Override
    public void onNext(RdmaConnection connection) {
      connection.dispose();
    }

    @Override
    public void onError(Throwable error) {
      throw new AssertionError(error);
    }

    @Override
    public void onComplete() {
      upstream = null;
    }

    void cancel() {
      Subscription subscription = upstream;
      if (subscription != null) {
        subscription.cancel();
      }
    }
  }

  @Test
  void failsOnAnAnswerThatIsNoHandshake() throws Exception {
    try (RawPeer server = RawPeer.listening()) {
      CompletableFuture<RdmaConnection> connection = transport.connect(server.address()).toFuture();
      server.accept(ByteBuffer.wrap(Ends.bytes(56, 1)));

      assertThat(connection)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(HandshakeException.class)
          .withMessageContaining("does not speak this protocol");
      server.awaitDisconnected();
    }
  }

  @Test
  void failsOnAnAnswerOfAnotherVersion() throws Exception {
    try (RawPeer server = RawPeer.listening()) {
      CompletableFuture<RdmaConnection> connection = transport.connect(server.address()).toFuture();
      server.accept(new Handshake(7, 8, 8192, 64, 256, 1 << 20).encode());

      assertThat(connection)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(HandshakeException.class)
          .withMessageContaining("protocol version: 7 (expected: 2)");
    }
  }

  @Test
  void namesBothVersionsWhenTheServerRejectsOurs() throws Exception {
    try (RawPeer server = RawPeer.listening()) {
      CompletableFuture<RdmaConnection> connection = transport.connect(server.address()).toFuture();
      server.reject(new Rejection(9, Rejection.Reason.VERSION).encode());

      assertThat(connection)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(HandshakeException.class)
          .withMessageContaining("its protocol version: 9 (expected: 2)");
    }
  }

  @Test
  void failsOnARejectionThatIsGarbage() throws Exception {
    try (RawPeer server = RawPeer.listening()) {
      CompletableFuture<RdmaConnection> connection = transport.connect(server.address()).toFuture();
      server.reject(ByteBuffer.wrap(Ends.bytes(20, 3)));

      assertThat(connection)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(HandshakeException.class);
    }
  }

  @Test
  void rejectsAClientThatSpeaksAnotherVersion() throws Exception {
    assertRejected(new Handshake(1, 0, 8192, 64, 256, 1 << 20).encode(), Rejection.Reason.VERSION);
  }

  @Test
  void rejectsAClientWithoutAHandshake() throws Exception {
    assertRejected(ByteBuffer.allocate(0), Rejection.Reason.MALFORMED);
    assertRejected(ByteBuffer.wrap(Ends.bytes(56, 2)), Rejection.Reason.MALFORMED);
    for (Handshake malformed :
        List.of(
            new Handshake(Handshake.VERSION, 8, 8192, 64, -1, 1 << 20),
            new Handshake(Handshake.VERSION, 0, 8192, 0, 10, 1 << 20),
            new Handshake(Handshake.VERSION, 3, 8192, 64, 10, 1 << 20),
            new Handshake(Handshake.VERSION, 65, 8192, 64, 10, 1 << 20))) {
      assertRejected(malformed.encode(), Rejection.Reason.MALFORMED);
    }
  }

  private void assertRejected(ByteBuffer handshake, Rejection.Reason reason) throws Exception {
    RdmaServer server = transport.bind(Addresses.of("strict"), c -> Mono.never()).block(Ends.LIMIT);
    try (RawPeer client = RawPeer.to(server.address())) {
      ConnectionEvent answer = client.connect(handshake);

      assertThat(answer.type()).isEqualTo(ConnectionEvent.Type.REJECTED);
      assertThat(Rejection.decode(answer.privateData()))
          .isEqualTo(new Rejection(Handshake.VERSION, reason));
      assertThat(server.connectionCount()).isZero();
    } finally {
      server.dispose();
    }
  }

  @Test
  void doesNothingOnADisposedTransport() {
    transport.dispose();

    assertThat(transport.isDisposed()).isTrue();
    assertThatThrownBy(() -> transport.connect(Addresses.of("x")).block(Ends.LIMIT))
        .isInstanceOf(RdmaConnectException.class)
        .hasMessageContaining("the transport was disposed");
    assertThatThrownBy(() -> transport.bind(Addresses.of("x"), c -> Mono.never()).block(Ends.LIMIT))
        .isInstanceOf(RdmaConnectException.class);
  }
}
