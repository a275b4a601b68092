// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** Tests a graceful close while the peer keeps sending. No close may wait for its timeout here. */
@Tag("moves-data")
class PeerClosingTest {
  private static RdmaOptions.Builder patient() {
    return Ends.options().closeTimeout(Ends.LIMIT.multipliedBy(10)).window(8);
  }

  private static Flux<ByteBuf> endless(RdmaConnection connection, int size) {
    return Flux.generate(sink -> sink.next(Ends.message(connection, size, 1)));
  }

  private static void takeSome(RdmaConnection connection) {
    connection.receive().doOnNext(ByteBuf::release).take(20).then().block(Ends.LIMIT);
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 3000, 30_000})
  void stopsAPeerThatStreamsWithoutEndToNobody(int size) {
    try (Ends ends = Ends.create(patient())) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> sent = pair.server().send(endless(pair.server(), size)).toFuture();
      takeSome(pair.client());

      pair.client().close().block(Ends.LIMIT);

      assertThat(sent)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(ConnectionClosedException.class)
          .withMessageContaining("takes no more messages");
      StepVerifier.create(pair.server().onClose()).expectComplete().verify(Ends.LIMIT);
    }
  }

  @Test
  void stopsAPeerWhoseSubscriberLeavesWhileTheCloseIsUnderWay() {
    try (Ends ends = Ends.create(patient())) {
      Ends.Pair pair = ends.connect();
      AtomicLong received = new AtomicLong();
      Disposable subscription =
          pair.client()
              .receive()
              .doOnNext(ByteBuf::release)
              .subscribe(message -> received.incrementAndGet());
      CompletableFuture<Void> sent = pair.server().send(endless(pair.server(), 16)).toFuture();
      // Waits for the first message, as a loop that learns of the close earlier never starts the
      // stream.
      Awaitility.await().atMost(Ends.LIMIT).until(() -> received.get() > 0);
      CompletableFuture<Void> close = pair.client().close().toFuture();
      pair.server().onPeerClosing().block(Ends.LIMIT);
      assertThat(close).isNotDone();

      subscription.dispose();

      assertThat(close).succeedsWithin(Ends.LIMIT);
      assertThat(sent).failsWithin(Ends.LIMIT);
    }
  }

  @Test
  void endsAHandlerThatStreamsWithoutEndInGoodOrder() {
    RdmaTransport transport = RdmaTransport.create(patient().build());
    try {
      CompletableFuture<Void> ended = new CompletableFuture<>();
      RdmaServer server =
          transport
              .bind(
                  Addresses.of("streaming"),
                  connection -> {
                    connection
                        .onClose()
                        .subscribe(null, ended::completeExceptionally, () -> ended.complete(null));
                    return connection.send(endless(connection, 100));
                  })
              .block(Ends.LIMIT);
      RdmaConnection client =
          transport.connect(Addresses.reach(server.address())).block(Ends.LIMIT);
      takeSome(client);

      client.close().block(Ends.LIMIT);

      assertThat(ended).succeedsWithin(Ends.LIMIT);
    } finally {
      transport.dispose();
    }
  }

  @Test
  void tellsAPeerWhoseStreamWithoutEndThenEndsWithNothingLost() {
    try (Ends ends = Ends.create(patient())) {
      Ends.Pair pair = ends.connect();
      AtomicLong emitted = new AtomicLong();
      CompletableFuture<Void> begun = new CompletableFuture<>();
      CompletableFuture<Void> sent =
          pair.server()
              .send(
                  endless(pair.server(), 16)
                      .takeUntilOther(pair.server().onPeerClosing())
                      .doOnNext(message -> emitted.incrementAndGet())
                      .doOnNext(message -> begun.complete(null)))
              .toFuture();
      CompletableFuture<Long> received =
          pair.client().receive().doOnNext(ByteBuf::release).count().toFuture();
      assertThat(begun).succeedsWithin(Ends.LIMIT);

      pair.client().close().block(Ends.LIMIT);

      assertThat(sent).succeedsWithin(Ends.LIMIT);
      assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo(emitted.get());
    }
  }

  @Test
  void letsAPeerFinishWhatItHasBegunWhileSomebodyReceives() {
    try (Ends ends = Ends.create(patient())) {
      Ends.Pair pair = ends.connect();
      long count = Addresses.rounds(500);
      CompletableFuture<Void> begun = new CompletableFuture<>();
      CompletableFuture<Long> received =
          pair.client().receive().doOnNext(ByteBuf::release).count().toFuture();
      CompletableFuture<Void> sent =
          pair.server()
              .send(endless(pair.server(), 16).take(count).doOnNext(m -> begun.complete(null)))
              .toFuture();
      assertThat(begun).succeedsWithin(Ends.LIMIT);

      pair.client().close().block(Ends.LIMIT);

      assertThat(sent).succeedsWithin(Ends.LIMIT);
      assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo(count);
    }
  }

  @Test
  void letsASendCompleteWhoseMessagesAreAllTakenEvenIfNobodyReceives() {
    try (Ends ends = Ends.create(patient())) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> taken = new CompletableFuture<>();
      CompletableFuture<Void> sent =
          pair.server()
              .send(endless(pair.server(), 30_000).take(4).doOnComplete(() -> taken.complete(null)))
              .toFuture();
      assertThat(taken).succeedsWithin(Ends.LIMIT);

      pair.client().close().block(Ends.LIMIT);

      assertThat(sent).succeedsWithin(Ends.LIMIT);
    }
  }

  @Test
  void tellsOfTheEndOfAConnectionThatIsLost() {
    try (Ends ends = Ends.create(patient())) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> closing = pair.server().onPeerClosing().toFuture();
      CompletableFuture<Void> own = pair.client().onPeerClosing().toFuture();

      pair.client().dispose();

      assertThat(own).succeedsWithin(Ends.LIMIT);
      assertThat(closing).succeedsWithin(Ends.LIMIT);
    }
  }
}
