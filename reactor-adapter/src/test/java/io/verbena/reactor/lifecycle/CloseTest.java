// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTimeoutException;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.reactor.testing.hca.LimitedProvider;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

@Tag("moves-data")
class CloseTest {

  private static Flux<ByteBuf> messages(RdmaConnection connection, int count, int size) {
    return Flux.range(0, count).map(n -> Ends.message(connection, size, n));
  }

  private static CompletableFuture<Long> count(RdmaConnection connection) {
    return connection.receive().doOnNext(ByteBuf::release).count().toFuture();
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 3000, 30_000})
  void deliversAllThatWasSentBeforeAClose(int size) {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      int count = Addresses.rounds(2000);
      CompletableFuture<Long> received = count(pair.server());
      CompletableFuture<Void> sent =
          pair.client().send(messages(pair.client(), count, size)).toFuture();

      pair.client().close().block(Ends.LIMIT);

      assertThat(sent).succeedsWithin(Ends.LIMIT);
      assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo((long) count);
      pair.client().onClose().block(Ends.LIMIT);
      pair.server().onClose().block(Ends.LIMIT);
      await().atMost(Ends.LIMIT).until(() -> ends.server().connectionCount() == 0);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void finishesOneSidedOperationsThatAreInFlight(boolean closedHere) {
    assumeTrue(Addresses.areEmulated());
    // The last operations wait for a slot, and their responses are in flight together with the end
    // marks.
    URI address = URI.create("emulated://in-flight?wire=simulated&latency=5000");
    RdmaTransport transport = RdmaTransport.create(Ends.options().sendDepth(8).build());
    try {
      CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
      transport
          .bind(
              address,
              connection -> {
                accepted.complete(connection);
                return Mono.never();
              })
          .block(Ends.LIMIT);
      RdmaConnection client = transport.connect(address).block(Ends.LIMIT);
      RdmaMemory.Region region =
          transport
              .memory(address)
              .register(ByteBuffer.allocateDirect(64), Set.of(Right.READ, Right.ATOMIC));
      CompletableFuture<Void> begun = new CompletableFuture<>();
      CompletableFuture<Void> done =
          client
              .receive()
              .doOnNext(ByteBuf::release)
              .take(1)
              .then(
                  Flux.range(0, 50)
                      .flatMap(
                          i ->
                              Flux.merge(
                                  client.read(region.token()).doOnNext(ByteBuf::release),
                                  client.fetchAndAdd(region.token().slice(0, Long.BYTES), 1)),
                          50)
                      .doOnSubscribe(subscription -> begun.complete(null))
                      .then())
              .toFuture();
      RdmaConnection server = accepted.join();
      server.send(messages(server, 1, 16)).block(Ends.LIMIT);
      assertThat(begun).succeedsWithin(Ends.LIMIT);

      (closedHere ? client : server).close().block(Ends.LIMIT);

      assertThat(done).succeedsWithin(Ends.LIMIT);
    } finally {
      transport.dispose();
    }
  }

  @Test
  void keepsWhatWasSentForASubscriberThatComesLate() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      pair.client().send(messages(pair.client(), 100, 16)).block(Ends.LIMIT);
      pair.client().close().block(Ends.LIMIT);
      pair.server().onClose().block(Ends.LIMIT);

      assertThat(count(pair.server())).succeedsWithin(Ends.LIMIT).isEqualTo(100L);
    }
  }

  @Test
  void forgetsWhatNobodyComesFor() {
    assumeFalse(Addresses.areLossy(), "what is lost comes later than this end waits");
    // The close itself has to succeed within this time.
    RdmaOptions.Builder forgetful = Ends.options().closeTimeout(Duration.ofSeconds(2));
    try (Ends ends = Ends.create(forgetful, Ends.options())) {
      Ends.Pair pair = ends.connect();
      pair.client().send(messages(pair.client(), 100, 16)).block(Ends.LIMIT);
      pair.client().close().block(Ends.LIMIT);
      pair.server().onClose().block(Ends.LIMIT);

      await().atMost(Ends.LIMIT).until(() -> isForgotten(pair.server()));
      // The leak detector reports messages that were not released.
    }
  }

  /** Returns whether a closed connection keeps no message. Requests no message itself. */
  private static boolean isForgotten(RdmaConnection closed) {
    AtomicBoolean completed = new AtomicBoolean();
    BaseSubscriber<ByteBuf> subscriber =
        new BaseSubscriber<>() {
          @Override
          protected void hookOnSubscribe(Subscription subscription) {
            // Requests nothing.
          }

          @Override
          protected void hookOnComplete() {
            completed.set(true);
          }
        };
    closed.receive().subscribe(subscriber);
    // This runs on the loop after the subscription.
    closed.send(Mono.empty()).onErrorComplete().block(Ends.LIMIT);
    subscriber.dispose();
    return completed.get();
  }

  @Test
  void closesFromBothEndsAtOnce() {
    try (Ends ends = Ends.create()) {
      for (int i = 0; i < 50; i++) {
        Ends.Pair pair = ends.connect();
        CompletableFuture<Void> one = pair.client().close().toFuture();
        CompletableFuture<Void> other = pair.server().close().toFuture();

        assertThat(one).succeedsWithin(Ends.LIMIT);
        assertThat(other).succeedsWithin(Ends.LIMIT);
        StepVerifier.create(pair.client().onClose()).expectComplete().verify(Ends.LIMIT);
        StepVerifier.create(pair.server().onClose()).expectComplete().verify(Ends.LIMIT);
      }
    }
  }

  @Test
  void closingTwiceIsClosingOnce() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      Mono<Void> close = pair.client().close();
      close.block(Ends.LIMIT);
      close.block(Ends.LIMIT);
      pair.client().close().block(Ends.LIMIT);
      pair.client().dispose();
      pair.client().dispose();
      assertThat(pair.client().isDisposed()).isTrue();
    }
  }

  @Test
  void closesTheConnectionWhenTheHandlerCompletes() {
    RdmaTransport transport = RdmaTransport.create(Ends.options().build());
    try {
      RdmaServer server =
          transport
              .bind(Addresses.of("greeter"), c -> c.send(messages(c, 3, 100)))
              .block(Ends.LIMIT);
      RdmaConnection client =
          transport.connect(Addresses.reach(server.address())).block(Ends.LIMIT);

      assertThat(count(client)).succeedsWithin(Ends.LIMIT).isEqualTo(3L);
      StepVerifier.create(client.onClose()).expectComplete().verify(Ends.LIMIT);
      await().atMost(Ends.LIMIT).until(() -> server.connectionCount() == 0);
    } finally {
      transport.dispose();
    }
  }

  /** Repeated, as the end may reach the client before the accept does. */
  @RepeatedTest(20)
  void losesTheConnectionWhenTheHandlerFails() {
    assumeFalse(
        Addresses.areLossy(), "the only word of the end may be lost, and none is asked for");
    RdmaTransport transport = RdmaTransport.create(Ends.options().build());
    try {
      RdmaServer server =
          transport
              .bind(Addresses.of("failing"), c -> Mono.error(new IllegalStateException("handler")))
              .block(Ends.LIMIT);
      RdmaConnection client =
          transport.connect(Addresses.reach(server.address())).block(Ends.LIMIT);

      StepVerifier.create(client.onClose())
          .expectError(ConnectionClosedException.class)
          .verify(Ends.LIMIT);
    } finally {
      transport.dispose();
    }
  }

  @Test
  void givesUpAGracefulCloseThatCannotDrain() {
    try (Ends ends = Ends.create(Ends.options().closeTimeout(Duration.ofMillis(200)).window(4))) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> sent =
          pair.client().send(messages(pair.client(), 100, 16)).toFuture();

      assertThatThrownBy(() -> pair.client().close().block(Ends.LIMIT))
          .isInstanceOf(RdmaTimeoutException.class);
      assertThat(sent).failsWithin(Ends.LIMIT);
    }
  }

  @Test
  void refusesEverythingOnceClosed() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      RdmaMemory.Region region =
          pair.server()
              .memory()
              .register(ByteBuffer.allocateDirect(8), Set.of(Right.READ, Right.WRITE));
      // The token has a right that the HCA may not support: the HCA is not asked.
      RemoteMemory token =
          new RemoteMemory(
              region.token().address(),
              8,
              region.token().key(),
              Set.of(Right.READ, Right.WRITE, Right.ATOMIC));
      pair.client().close().block(Ends.LIMIT);
      ByteBuf data = Ends.message(pair.client(), 8, 1);
      AtomicInteger asked = new AtomicInteger();

      assertClosed(pair.client().read(token).then());
      assertClosed(pair.client().write(data, token));
      assertClosed(pair.client().fetchAndAdd(token, 1).then());
      assertClosed(pair.client().readPieces(token, 4).then());
      assertClosed(
          pair.client()
              .send(messages(pair.client(), 1, 8).doOnRequest(n -> asked.incrementAndGet())));
      assertThat(data.refCnt()).isZero();
      assertThat(asked).hasValue(0);
      StepVerifier.create(pair.client().receive()).expectComplete().verify(Ends.LIMIT);
      region.close();
    }
  }

  private static void assertClosed(Mono<Void> operation) {
    assertThatThrownBy(() -> operation.block(Ends.LIMIT))
        .isInstanceOf(ConnectionClosedException.class);
  }

  @Test
  void failsAllThatIsPendingWhenDisposed() {
    try (Ends ends = Ends.create(Ends.options().window(4))) {
      Ends.Pair pair = ends.connect();
      List<CompletableFuture<?>> pending = new ArrayList<>();
      for (int size : new int[] {16, 3000, 50_000}) {
        pending.add(pair.client().send(messages(pair.client(), 100, size)).toFuture());
      }
      pending.add(count(pair.client()));
      pending.add(pair.client().immediates().count().toFuture());
      CompletableFuture<Void> neverEnding = pair.client().send(Flux.never()).toFuture();
      pending.add(neverEnding);

      pair.client().dispose();

      for (CompletableFuture<?> each : pending) {
        assertThat(each)
            .failsWithin(Ends.LIMIT)
            .withThrowableThat()
            .withCauseInstanceOf(ConnectionClosedException.class);
      }
      StepVerifier.create(pair.client().onClose()).expectComplete().verify(Ends.LIMIT);
      StepVerifier.create(pair.server().onClose())
          .expectError(ConnectionClosedException.class)
          .verify(Ends.LIMIT);
    }
  }

  /** The posted requests are still being flushed when the connection is disposed. */
  @Test
  void tellsASubscriberWithoutDemandWhenDisposedWhileItEnds() {
    assumeFalse(
        Addresses.areLossy(), "the only word of the end may be lost, and none is asked for");
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connectLimited();
      CompletableFuture<Void> first = new CompletableFuture<>();
      CompletableFuture<Void> ended = new CompletableFuture<>();
      pair.client().receive().subscribe(taking(first, ended));
      pair.server().send(messages(pair.server(), 2, 16)).block(Ends.LIMIT);
      assertThat(first).succeedsWithin(Ends.LIMIT);
      LimitedProvider.hold(true);
      try {
        pair.server().dispose();
        await().atMost(Ends.LIMIT).until(pair.client()::isDisposed);

        pair.client().dispose();

        // This runs on the loop after the dispose.
        pair.client().send(Mono.empty()).onErrorComplete().block(Ends.LIMIT);
      } finally {
        LimitedProvider.hold(false);
      }
      assertThat(ended)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(ConnectionClosedException.class);
    }
  }

  /** Returns a subscriber that requests one message. */
  private static BaseSubscriber<ByteBuf> taking(
      CompletableFuture<Void> first, CompletableFuture<Void> ended) {
    return new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        subscription.request(1);
      }

      @Override
      protected void hookOnNext(ByteBuf message) {
        message.release();
        first.complete(null);
      }

      @Override
      protected void hookOnComplete() {
        ended.complete(null);
      }

      @Override
      protected void hookOnError(Throwable error) {
        ended.completeExceptionally(error);
      }
    };
  }

  /** An HCA reports no unsignaled request that succeeded before the queue pair was stopped. */
  @Test
  void waitsForNoCompletionThatNeverComesWhenDisposed() {
    try (Ends ends = Ends.create(Ends.options().closeTimeout(Ends.LIMIT.multipliedBy(10)))) {
      Ends.Pair pair = ends.connect();
      // One turn of the loop posts unsignaled frames, and disposes before it posts the signaled
      // last one.
      Flux<ByteBuf> disposing =
          messages(pair.client(), 20, 1000).doOnComplete(pair.client()::dispose);
      CompletableFuture<Void> sent = pair.client().send(disposing).toFuture();

      StepVerifier.create(pair.client().onClose()).expectComplete().verify(Ends.LIMIT);
      assertThat(sent).failsWithin(Ends.LIMIT);
    }
  }

  @Test
  void failsAllThatIsPendingWhenThePeerVanishes() throws Exception {
    try (Ends ends = Ends.create();
        RawPeer server = RawPeer.listening()) {
      CompletableFuture<RdmaConnection> connect =
          ends.clientSide().connect(server.address()).toFuture();
      server.accept(RawPeer.handshake().encode());
      RdmaConnection client = connect.get();
      List<CompletableFuture<?>> pending = new ArrayList<>();
      pending.add(count(client));
      pending.add(client.send(messages(client, 1, 100_000)).toFuture());
      pending.add(client.close().toFuture());

      server.disconnect();

      for (CompletableFuture<?> each : pending) {
        assertThat(each)
            .failsWithin(Ends.LIMIT)
            .withThrowableThat()
            .withCauseInstanceOf(ConnectionClosedException.class);
      }
      StepVerifier.create(client.onClose())
          .expectErrorSatisfies(
              e ->
                  assertThat(e)
                      .hasMessageContaining(server.address().getAuthority())
                      .hasMessageContaining("disconnected"))
          .verify(Ends.LIMIT);
    }
  }

  @Test
  void deliversWhatArrivedBeforeThePeerVanished() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      pair.client().send(messages(pair.client(), 50, 16)).block(Ends.LIMIT);
      pair.client().dispose();
      StepVerifier.create(pair.server().onClose()).expectError().verify(Ends.LIMIT);

      StepVerifier.create(pair.server().receive().doOnNext(ByteBuf::release))
          .expectNextCount(50)
          .expectError(ConnectionClosedException.class)
          .verify(Ends.LIMIT);
    }
  }

  @Test
  void disposesATransportInTheMiddleOfEverything() {
    for (int round = 0; round < Addresses.rounds(20); round++) {
      try (Ends ends = Ends.create(Ends.options().window(16))) {
        List<CompletableFuture<?>> pending = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
          Ends.Pair pair = ends.connect();
          RdmaMemory.Region region =
              pair.server()
                  .memory()
                  .register(ByteBuffer.allocateDirect(1 << 16), Set.of(Right.READ));
          pair.server().send(pair.server().receive()).subscribe(null, e -> {});
          pending.add(count(pair.client()));
          pending.add(
              pair.client()
                  .send(
                      Flux.range(0, Integer.MAX_VALUE)
                          .map(n -> Ends.message(pair.client(), 10 << (n % 12), n)))
                  .toFuture());
          pending.add(
              pair.client()
                  .read(region.token())
                  .doOnNext(ByteBuf::release)
                  .repeat()
                  .then()
                  .toFuture());
        }
        for (int spin = 0; spin < round * 10_000; spin++) {
          Thread.onSpinWait();
        }
        ends.clientSide().dispose();
        for (CompletableFuture<?> each : pending) {
          assertThat(each)
              .failsWithin(Ends.LIMIT)
              .withThrowableThat()
              .withCauseInstanceOf(ConnectionClosedException.class);
        }
      }
    }
  }

  @Test
  void leavesNoThreadBehind() throws Exception {
    inGroup(
        () -> {
          try (Ends ends = Ends.create()) {
            ends.connect();
            assertThat(threads()).isPositive();
          }
          assertThat(threads()).isZero();
        });
  }

  /** Runs {@code test} in a thread group of its own, which all threads that it starts join. */
  private static void inGroup(Runnable test) throws Exception {
    FutureTask<Void> task = new FutureTask<>(test, null);
    Thread thread = new Thread(new ThreadGroup("CloseTest"), task, "test");
    thread.start();
    task.get(2 * Ends.LIMIT.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Returns the number of transport threads in this thread group. */
  private static int threads() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    return (int)
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getThreadGroup() == group)
            .filter(thread -> thread.getName().startsWith("verbena-"))
            .count();
  }

  @Test
  void disposesFromItsOwnLoop() throws Exception {
    inGroup(CloseTest::disposeFromItsOwnLoop);
  }

  private static void disposeFromItsOwnLoop() {
    Sinks.Empty<Void> disposed = Sinks.empty();
    try (Ends ends = Ends.create()) {
      int ofTheServer = threads();
      Ends.Pair pair = ends.connect();
      pair.client()
          .receive()
          .subscribe(
              new BaseSubscriber<>() {
                @Override
                protected void hookOnNext(ByteBuf message) {
                  message.release();
                  ends.clientSide().dispose();
                  disposed.tryEmitEmpty();
                }
              });
      pair.server().send(messages(pair.server(), 1, 10)).subscribe(null, e -> {});
      disposed.asMono().block(Ends.LIMIT);
      await().pollInSameThread().atMost(Ends.LIMIT).until(() -> threads() == ofTheServer);
    }
  }
}
