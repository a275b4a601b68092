// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import io.verbena.reactor.testing.hca.LimitedProvider;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests an HCA that refuses to take receives back, which it should never do. */
class RefusedReceiveTest {
  private static final int LENGTH = 100;

  private Ends ends;

  @BeforeEach
  void bind() {
    ends = Ends.create(Ends.options().loops(1));
  }

  /** Fails if anything is still open; the leak detector checks the buffers. */
  @AfterEach
  void close() {
    ends.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"POST_SHARED_RECEIVE", "POST_OWN_RECEIVE"})
  void endsTheConnectionThatGaveTheFramesBackAndNoOther(Fault.Place place) {
    assumeTrue(
        place == Fault.Place.POST_OWN_RECEIVE || Ends.haveRequestStatus(),
        "an HCA on which receives are shared");
    URI address = LimitedProvider.faulty(ends.server().address(), place, Fault.Kind.EXCEPTION);
    Ends.Pair bystander = ends.connect(address);
    Ends.Pair pair = ends.connect(address);
    CompletableFuture<Void> ended = pair.client().onClose().toFuture();
    pair.client().receive().subscribe(ByteBuf::release, e -> {});

    Fault.refuseReceives();
    pair.server().send(Mono.just(Ends.message(pair.server(), LENGTH, 1))).block(Ends.LIMIT);

    assertThat(ended)
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(ConnectionClosedException.class)
        .withMessageContaining("the HCA takes no more receives")
        .withMessageContaining(Fault.MESSAGE)
        .withRootCauseInstanceOf(VerbsException.class);
    assertMoves(bystander);
    assertMoves(ends.connect(address));
  }

  @Test
  void keepsTheFrameBehindTheOneThatIsRefused() throws Exception {
    assumeTrue(Ends.haveRequestStatus(), "an HCA on which receives are shared");
    assumeFalse(Ends.linkRequests(), "an HCA on which each receive is posted at once");
    URI address =
        LimitedProvider.faulty(
            ends.server().address(), Fault.Place.POST_SINGLE_RECEIVE, Fault.Kind.EXCEPTION);
    Ends.Pair pair = ends.connect(address);
    CompletableFuture<Void> ended = pair.client().onClose().toFuture();
    pair.client().receive().subscribe(ByteBuf::release, e -> {});
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch letGo = new CountDownLatch(1);
    pair.client()
        .send(Mono.fromSupplier(() -> Ends.message(pair.client(), LENGTH, 1)))
        .subscribe(
            null,
            e -> {},
            () -> {
              held.countDown();
              awaitQuietly(letGo);
            });
    assertThat(held.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

    // Each message fills a frame. The loop finds both at once, and reposts the first at the second.
    pair.server()
        .send(Flux.range(0, 2).map(n -> Ends.message(pair.server(), 7000, n)))
        .block(Ends.LIMIT);
    Fault.refuseReceives();
    letGo.countDown();

    assertThat(ended)
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .withCauseInstanceOf(ConnectionClosedException.class)
        .withMessageContaining(Fault.MESSAGE);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(2 * Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void assertMoves(Ends.Pair pair) {
    CompletableFuture<byte[]> received = pair.client().receive().next().map(Ends::take).toFuture();

    pair.server().send(Mono.just(Ends.message(pair.server(), LENGTH, 2))).block(Ends.LIMIT);

    assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(LENGTH, 2));
  }
}
