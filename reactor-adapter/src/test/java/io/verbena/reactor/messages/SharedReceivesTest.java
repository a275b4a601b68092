// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.verbena.ProtocolViolationException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.meters.Readings;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.reactor.wire.RecordLayout;
import io.verbena.verbs.CompletionStatus;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests receives that the connections of a loop share. */
@Tag("moves-data")
class SharedReceivesTest {
  /** The number of receives that each connection may always use. */
  private static final int FIRST = 8;

  private static final int DEPTH = 64;
  private static final String SIZE = "receive.pool.size";
  private static final String PROMISED = "receive.pool.promised";

  private final Readings readings = new Readings();

  private RdmaOptions.Builder measured() {
    return Ends.options().loops(1).meters(readings.meters());
  }

  @Test
  void keepsFewForIdleConnectionsAndNoneWithoutAny() {
    try (Ends ends = Ends.create(measured(), Ends.options())) {
      List<Ends.Pair> pairs = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        pairs.add(ends.connect());
      }

      assertThat(readings.of(PROMISED)).isEqualTo(40.0 * FIRST);
      assertThat(readings.of(SIZE)).isEqualTo(256.0 + 10);

      pairs.forEach(pair -> pair.client().close().block(Ends.LIMIT));
      readings.await(0, Ends.LIMIT, SIZE);
      readings.await(0, Ends.LIMIT, PROMISED);
    }
  }

  @Test
  void growsWithAStreamAndIsGivenBackWhenThatIsOver() {
    // The clock's tick follows the shortest timeout.
    RdmaOptions.Builder quick =
        Ends.options().closeTimeout(Addresses.within(Duration.ofMillis(500)));
    try (Ends ends =
        Ends.create(quick.build().toBuilder().loops(1).meters(readings.meters()), quick)) {
      Ends.Pair pair = ends.connect();
      assertThat(readings.of(PROMISED)).isEqualTo(FIRST);
      Queue<Double> seen = new ConcurrentLinkedQueue<>();
      CompletableFuture<Long> received =
          pair.server()
              .receive()
              .doOnNext(
                  message -> {
                    message.release();
                    seen.add(readings.of(PROMISED));
                  })
              .take(2000)
              .count()
              .toFuture();

      pair.client()
          .send(Flux.range(0, 2000).map(n -> Ends.message(pair.client(), 5000, n)))
          .block(Ends.LIMIT);

      assertThat(received).succeedsWithin(Ends.LIMIT);
      assertThat(seen).contains((double) DEPTH);
      assertThat(seen).allMatch(promised -> promised <= DEPTH);
      // Except for credits too few to announce in a frame of their own, which cannot be withdrawn.
      await().atMost(Ends.LIMIT).until(() -> readings.of(PROMISED) < 2 * FIRST);
      assertThat(readings.of(SIZE)).isEqualTo(readings.of(PROMISED));
      assertThat(pair.client().isDisposed()).isFalse();
    }
  }

  @Test
  void growsAndShrinksLikewiseWhereAConnectionHasReceivesOfItsOwn() {
    RdmaOptions.Builder quick =
        Ends.options().closeTimeout(Addresses.within(Duration.ofMillis(500)));
    try (Ends ends =
        Ends.create(quick.build().toBuilder().loops(1).meters(readings.meters()), quick)) {
      Ends.Pair pair = ends.connectLimited();
      for (int round = 0; round < 3; round++) {
        // Retries, as a sender that a busy machine slows down needs no more credits.
        await().atMost(Ends.LIMIT).until(() -> growsBySome(pair));
        await()
            .atMost(Ends.LIMIT)
            .until(() -> readings.of("credits", "credit", "receive") <= FIRST + 1);
      }
    }
  }

  /** Returns whether 1,000 messages have made the credits grow. */
  private boolean growsBySome(Ends.Pair pair) {
    Queue<Double> credits = new ConcurrentLinkedQueue<>();
    CompletableFuture<Long> received =
        pair.client()
            .receive()
            .doOnNext(
                message -> {
                  message.release();
                  credits.add(readings.of("credits", "credit", "receive"));
                })
            .take(1000)
            .count()
            .toFuture();
    pair.server()
        .send(Flux.range(0, 1000).map(n -> Ends.message(pair.server(), 5000, n)))
        .block(Ends.LIMIT);
    assertThat(received).succeedsWithin(Ends.LIMIT);
    return credits.stream().anyMatch(count -> count > 2 * FIRST);
  }

  @Test
  void growsLittleForQuestionsAndAnswers() {
    try (Ends ends = Ends.create(measured())) {
      Ends.Pair pair = ends.connect();
      pair.server().send(pair.server().receive()).subscribe(null, e -> {});

      for (int n = 0; n < 200; n++) {
        CompletableFuture<byte[]> answer =
            pair.client().receive().next().map(Ends::take).toFuture();
        pair.client().send(Mono.just(Ends.message(pair.client(), 100, n))).block(Ends.LIMIT);
        assertThat(answer).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(100, n));
      }

      // The sum for both ends. A keep-alive request and credits may come in two frames at once.
      assertThat(readings.of(PROMISED)).isLessThan(DEPTH);
    }
  }

  @Test
  void givesWhoWaitsItsPartOfWhatOthersHave() {
    // The limit leaves 21 extra receives for all: one connection alone could use them all.
    RdmaOptions.Builder small = measured().maxRegisteredBytes(2 << 20);
    try (Ends ends = Ends.create(small, Ends.options())) {
      List<CompletableFuture<Long>> received = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Ends.Pair pair = ends.connect();
        received.add(
            pair.server().receive().doOnNext(ByteBuf::release).take(3000).count().toFuture());
        pair.client()
            .send(Flux.range(0, 3000).map(n -> Ends.message(pair.client(), 3000, n)))
            .subscribe(null, e -> {});
      }

      received.forEach(each -> assertThat(each).succeedsWithin(Ends.LIMIT).isEqualTo(3000L));
      assertThat(readings.of(SIZE)).isLessThanOrEqualTo((2 << 20) / 4 / 8192.0);
    }
  }

  @Test
  void endsTheConnectionAloneOfAPeerThatSendsWithoutCredits() throws Exception {
    RdmaTransport transport = RdmaTransport.create(Ends.options().loops(1).build());
    LinkedBlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();
    RdmaServer server =
        transport
            .bind(
                Addresses.of("overrun"),
                connection -> {
                  accepted.add(connection);
                  return Mono.never();
                })
            .block(Ends.LIMIT);
    RdmaTransport clients = RdmaTransport.create(Ends.options().build());
    try (RawPeer peer = RawPeer.to(server.address())) {
      RdmaConnection innocent =
          clients.connect(Addresses.reach(server.address())).block(Ends.LIMIT);
      RdmaConnection other = accepted.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
      peer.connect(RawPeer.handshake().encode());
      RdmaConnection hostile = accepted.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
      CountDownLatch heldUp = new CountDownLatch(1);
      CountDownLatch allSent = new CountDownLatch(1);
      CompletableFuture<byte[]> received =
          other
              .receive()
              .doOnNext(
                  message -> {
                    heldUp.countDown();
                    await().atMost(Ends.LIMIT).until(() -> allSent.getCount() == 0);
                  })
              .map(Ends::take)
              .next()
              .toFuture();
      CompletableFuture<byte[]> second =
          received.thenCompose(first -> other.receive().next().map(Ends::take).toFuture());

      // The server announces no credits while its loop is blocked.
      innocent.send(Mono.just(Ends.message(innocent, 10, 1))).block(Ends.LIMIT);
      assertThat(heldUp.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      for (int i = 0; i <= FIRST; i++) {
        peer.send(message());
      }
      // Messages sent after the loop resumes may be covered by newly announced credits.
      for (int i = 0; i <= FIRST; i++) {
        assertThat(peer.awaitEnd()).isEqualTo(CompletionStatus.SUCCESS);
      }
      allSent.countDown();

      assertThat(hostile.onClose().toFuture())
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(ProtocolViolationException.class)
          .withMessageContaining("frames beyond the credits: 1 (expected: 0)");
      assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(10, 1));
      innocent.send(Mono.just(Ends.message(innocent, 10, 2))).block(Ends.LIMIT);
      assertThat(second).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(10, 2));
    } finally {
      clients.dispose();
      transport.dispose();
    }
  }

  /** Returns a frame with a message of 0 bytes. */
  private static ByteBuffer message() {
    return ByteBuffer.allocate(24)
        .putLong(0, FrameLayout.first(1, DEPTH))
        .putLong(8, FrameLayout.second(256, 256))
        .putLong(16, RecordLayout.header(RecordLayout.MESSAGE, 0));
  }

  @Test
  void serveOthersWhileASubscriberKeepsAllItGets() {
    RdmaOptions.Builder small = Ends.options().loops(1).maxRegisteredBytes(4 << 20);
    try (Ends ends = Ends.create(small, Ends.options())) {
      Ends.Pair greedy = ends.connect();
      Queue<ByteBuf> kept = new ConcurrentLinkedQueue<>();
      greedy.server().receive().subscribe(kept::add);
      Ends.Pair innocent = ends.connect();
      CompletableFuture<Long> received =
          innocent.server().receive().doOnNext(ByteBuf::release).take(500).count().toFuture();

      // Each message has a frame of its own: together they exceed the ceiling.
      int count = 600;
      Flux.range(0, count)
          .concatMap(n -> greedy.client().send(Mono.just(Ends.message(greedy.client(), 8000, n))))
          .blockLast(Ends.LIMIT);
      innocent
          .client()
          .send(Flux.range(0, 500).map(n -> Ends.message(innocent.client(), 8000, n)))
          .block(Ends.LIMIT);

      assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo(500L);
      await().atMost(Ends.LIMIT).until(() -> kept.size() == count);
      kept.forEach(ByteBuf::release);
    }
  }
}
