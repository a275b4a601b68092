// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaTimeoutException;
import io.verbena.RemoteMemory.Right;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.reactor.testing.hca.LimitedProvider;
import io.verbena.reactor.wire.Handshake;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class DeadlineTest {

  @AfterEach
  void letGo() {
    LimitedProvider.hold(false);
  }

  private static Ends impatient(Duration operationTimeout) {
    return Ends.create(
        Ends.options().operationTimeout(operationTimeout).closeTimeout(Duration.ofMillis(200)));
  }

  @Test
  void givesTheConnectionUpWhenTheHcaDoesNotComplete() {
    try (Ends ends = impatient(Duration.ofMillis(200))) {
      Ends.Pair pair = ends.connectLimited();
      RdmaMemory.Region region =
          pair.server().memory().register(ByteBuffer.allocateDirect(64), Set.of(Right.READ));
      LimitedProvider.hold(true);
      CompletableFuture<ByteBuf> first = pair.client().read(region.token()).toFuture();
      CompletableFuture<ByteBuf> second = pair.client().read(region.token()).toFuture();

      assertThat(first)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(RdmaTimeoutException.class);
      assertThat(second)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(ConnectionClosedException.class);
      assertThatThrownBy(() -> pair.client().onClose().block(Ends.LIMIT))
          .isInstanceOf(RdmaTimeoutException.class);
      LimitedProvider.hold(false);
      region.close();
    }
  }

  @Test
  void takesTheLongestTimeouts() {
    Duration longest = Duration.ofNanos(Long.MAX_VALUE);
    try (Ends ends =
        Ends.create(
            Ends.options()
                .connectTimeout(longest)
                .operationTimeout(longest)
                .closeTimeout(longest)
                .stallWarning(longest))) {
      Ends.Pair pair = ends.connect();

      pair.client().send(Flux.just(Ends.message(pair.client(), 8, 1))).block(Ends.LIMIT);
      pair.client().close().block(Ends.LIMIT);
    }
  }

  @Test
  void givesTheConnectionUpWhenThePeerReturnsNoCredit() throws Exception {
    // Within this time the HCA has to complete the requests that the peer does not answer.
    try (Ends ends = impatient(Duration.ofSeconds(2));
        RawPeer peer = RawPeer.listening()) {
      CompletableFuture<RdmaConnection> connect =
          ends.clientSide().connect(peer.address()).toFuture();
      peer.accept(new Handshake(Handshake.VERSION, 4, 8192, 4, 256, 1 << 20).encode());
      RdmaConnection connection = connect.get();

      CompletableFuture<Void> sent =
          connection
              .send(Flux.range(0, 100).map(n -> Ends.message(connection, 8000, n)))
              .toFuture();

      assertThat(sent)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(ConnectionClosedException.class);
      assertThatThrownBy(() -> connection.onClose().block(Ends.LIMIT))
          .isInstanceOf(RdmaTimeoutException.class)
          .hasMessageContaining("no credit");
    }
  }

  @Test
  void aSlowSubscriberIsNoReasonToGiveUp() {
    Duration limit = Duration.ofMillis(1500);
    try (Ends ends = Ends.create(Ends.options().window(2).operationTimeout(limit))) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> sent =
          pair.client()
              .send(Flux.range(0, 6).map(n -> Ends.message(pair.client(), 100 + 20_000 * n, n)))
              .toFuture();

      StepVerifier.create(pair.server().receive().map(message -> Ends.take(message).length), 1)
          .expectNext(100)
          .expectNoEvent(limit.multipliedBy(3).dividedBy(2))
          .thenRequest(5)
          .expectNextCount(5)
          .thenCancel()
          .verify(Ends.LIMIT);

      assertThat(sent).succeedsWithin(Ends.LIMIT);
      assertThat(pair.client().isDisposed()).isFalse();
    }
  }

  @Test
  void failsInTimeWhileAnotherLoopIsHeldUp() throws InterruptedException {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch letGo = new CountDownLatch(1);
    try (Ends ends =
        Ends.create(
            Ends.options(), Ends.options().loops(2).operationTimeout(Duration.ofSeconds(2)))) {
      RdmaConnection heldUp = ends.connectLimited().client();
      Ends.Pair other = ends.connectLimited();
      RdmaMemory.Region region =
          other.server().memory().register(ByteBuffer.allocateDirect(64), Set.of(Right.READ));
      heldUp
          .send(Mono.fromSupplier(() -> Ends.message(heldUp, 8, 1)))
          .then(Mono.fromRunnable(() -> holdUp(entered, letGo)))
          .subscribe();
      assertThat(entered.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      LimitedProvider.hold(true);

      assertThatThrownBy(() -> other.client().read(region.token()).block(Ends.LIMIT))
          .isInstanceOf(RdmaTimeoutException.class);
      assertThatThrownBy(() -> heldUp.read(region.token()).block(Duration.ofMillis(1)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("Timeout");

      LimitedProvider.hold(false);
      letGo.countDown();
      region.close();
    } finally {
      letGo.countDown();
    }
  }

  private static void holdUp(CountDownLatch entered, CountDownLatch letGo) {
    entered.countDown();
    try {
      assertThat(letGo.await(2 * Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
