// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class CreditTest {

  private static ByteBuf number(RdmaConnection connection, int size, long number) {
    ByteBuf message = connection.memory().allocator().directBuffer(size, size);
    return message.setLong(0, number).writerIndex(size);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 2000, 50_000})
  void asksTheUpstreamForNoMoreThanTheWindowBeyondWhatWasDelivered(int size) {
    int window = 16;
    try (Ends ends = Ends.create(Ends.options().window(window))) {
      Ends.Pair pair = ends.connect();
      AtomicLong requested = new AtomicLong();
      AtomicLong delivered = new AtomicLong();
      AtomicLong most = new AtomicLong();
      pair.client()
          .send(
              Flux.range(0, 500)
                  .map(n -> number(pair.client(), size, n))
                  .doOnRequest(
                      n ->
                          most.accumulateAndGet(
                              requested.addAndGet(n) - delivered.get(), Math::max)))
          .subscribe();

      StepVerifier.create(
              pair.server()
                  .receive()
                  .map(
                      message -> {
                        delivered.incrementAndGet();
                        long number = message.getLong(0);
                        message.release();
                        return number;
                      })
                  .take(500),
              0)
          .thenRequest(1)
          .expectNext(0L)
          .then(() -> await().atMost(Ends.LIMIT).until(() -> requested.get() >= 4))
          .thenRequest(1)
          .expectNext(1L)
          .thenRequest(498)
          .expectNextCount(498)
          .expectComplete()
          .verify(Ends.LIMIT);

      assertThat(most.get()).isLessThanOrEqualTo(window + 1);
      assertThat(requested.get()).isLessThanOrEqualTo(500 + window);
    }
  }

  @Test
  void deliversNothingThatWasNotAskedFor() {
    try (Ends ends = Ends.create(Ends.options().window(4))) {
      Ends.Pair pair = ends.connect();
      pair.client().send(Flux.range(0, 100).map(n -> number(pair.client(), 8, n))).subscribe();

      StepVerifier.create(pair.server().receive().map(CreditTest::take), 0)
          .expectSubscription()
          .thenRequest(3)
          .expectNext(0L, 1L, 2L)
          .then(() -> assertThat(pair.client().isDisposed()).isFalse())
          .thenRequest(1)
          .expectNext(3L)
          .thenCancel()
          .verify(Ends.LIMIT);
    }
  }

  private static long take(ByteBuf message) {
    long number = message.getLong(0);
    message.release();
    return number;
  }

  @Test
  void keepsForTheNextSubscriberWhatTheLastDidNotTake() {
    try (Ends ends = Ends.create(Ends.options().window(8))) {
      Ends.Pair pair = ends.connect();
      pair.client().send(Flux.range(0, 40).map(n -> number(pair.client(), 8, n))).subscribe();

      assertThat(
              pair.server()
                  .receive()
                  .map(CreditTest::take)
                  .take(10)
                  .collectList()
                  .block(Ends.LIMIT))
          .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
      assertThat(
              pair.server()
                  .receive()
                  .map(CreditTest::take)
                  .take(30)
                  .collectList()
                  .block(Ends.LIMIT))
          .hasSize(30)
          .startsWith(10L)
          .endsWith(39L);
    }
  }

  @Test
  void refusesASecondSubscriber() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<?> first = pair.server().receive().then().toFuture();

      StepVerifier.create(pair.server().receive())
          .expectErrorMessage("receive: it has a subscriber (expected: one at a time)")
          .verify(Ends.LIMIT);
      assertThat(first).isNotDone();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 20_000})
  void aStalledSubscriberStallsNoOtherConnection(int size) {
    int connections = Addresses.rounds(100);
    int messages = 200;
    try (Ends ends = Ends.create(Ends.options().receiveDepth(8).window(8).eagerSize(1024))) {
      List<CompletableFuture<Long>> results = new ArrayList<>();
      AtomicLong stalledRequests = new AtomicLong();
      for (int i = 0; i < connections; i++) {
        Ends.Pair pair = ends.connect();
        Flux<ByteBuf> source = Flux.range(0, messages).map(n -> number(pair.client(), size, n));
        if (i == connections / 2) {
          pair.client().send(source.doOnRequest(stalledRequests::addAndGet)).subscribe();
          pair.server().receive().subscribe(new Stalled());
        } else {
          results.add(
              pair.server()
                  .receive()
                  .map(CreditTest::take)
                  .take(messages)
                  .reduce(0L, Long::sum)
                  .toFuture());
          pair.client().send(source).subscribe();
        }
      }

      for (CompletableFuture<Long> result : results) {
        assertThat(result)
            .succeedsWithin(Ends.LIMIT)
            .isEqualTo((long) messages * (messages - 1) / 2);
      }
      assertThat(stalledRequests.get()).isLessThanOrEqualTo(8);
    }
  }

  /** Subscribes and requests nothing. */
  private static final class Stalled extends reactor.core.publisher.BaseSubscriber<ByteBuf> {
    @Override
    protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
      // Requests nothing.
    }
  }

  @Test
  void sharesCreditsAmongConcurrentSends() {
    int sends = 10;
    int messages = 300;
    try (Ends ends = Ends.create(Ends.options().window(16))) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<List<Long>> result =
          pair.server()
              .receive()
              .map(CreditTest::take)
              .take((long) sends * messages)
              .collectList()
              .toFuture();

      Flux.range(0, sends)
          .flatMap(
              send ->
                  pair.client()
                      .send(
                          Flux.range(0, messages)
                              .map(n -> number(pair.client(), 8, send * 1000L + n))))
          .blockLast(Ends.LIMIT);

      assertThat(result).succeedsWithin(Ends.LIMIT);
      for (int send = 0; send < sends; send++) {
        long first = send * 1000L;
        assertThat(result.join().stream().filter(n -> n / 1000 == first / 1000))
            .hasSize(messages)
            .isSorted();
      }
    }
  }

  @Test
  void aSendThatHoldsCreditsAndIsSilentDoesNotStarveAnother() {
    try (Ends ends = Ends.create(Ends.options().window(4))) {
      Ends.Pair pair = ends.connect();
      pair.client().send(Flux.never()).subscribe();
      CompletableFuture<Long> result =
          pair.server().receive().map(CreditTest::take).take(50).count().toFuture();

      pair.client().send(Flux.range(0, 50).map(n -> number(pair.client(), 8, n))).block(Ends.LIMIT);

      assertThat(result).succeedsWithin(Ends.LIMIT).isEqualTo(50L);
    }
  }

  @Test
  void passesAnErrorOfTheMessagesOnAndStaysOpen() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<List<Long>> result =
          pair.server().receive().map(CreditTest::take).take(3).collectList().toFuture();

      StepVerifier.create(
              pair.client()
                  .send(
                      Flux.range(0, 2)
                          .map(n -> number(pair.client(), 8, n))
                          .concatWith(Mono.error(new IllegalStateException("upstream")))))
          .expectErrorMessage("upstream")
          .verify(Ends.LIMIT);
      pair.client().send(Mono.fromSupplier(() -> number(pair.client(), 8, 2))).block(Ends.LIMIT);

      assertThat(result).succeedsWithin(Ends.LIMIT).isEqualTo(List.of(0L, 1L, 2L));
    }
  }
}
