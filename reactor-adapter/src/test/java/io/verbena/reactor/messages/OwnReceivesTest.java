// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import io.verbena.reactor.testing.hca.LimitedProvider;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests connections with their own receive queues on an HCA whose posts are costly. */
class OwnReceivesTest {
  private static final int LENGTH = 100;

  /** Fewer than the 8 frames that a peer may send at first, including frames with credits. */
  private static final int BURST = 4;

  /** More than a loop polls in two duty cycles: it polls at the start, and once armed. */
  private static final int POLLS = 4;

  private Ends ends;
  private URI address;
  private Ends.Pair pair;

  @BeforeEach
  void connect() {
    // On a real wire a send may complete before its receive can be polled.
    assumeTrue(Addresses.areEmulated(), "an HCA on which a burst is there at once");
    // No test here ends by a deadline.
    ends = Ends.create(Ends.options().loops(1).closeTimeout(Ends.LIMIT.multipliedBy(10)));
    address =
        LimitedProvider.faulty(
            ends.server().address(), Fault.Place.POST_OWN_RECEIVE, Fault.Kind.EXCEPTION);
    pair = ends.connect(address);
  }

  /** Fails if anything is still open; the leak detector checks the buffers. */
  @AfterEach
  void close() {
    LimitedProvider.hold(false);
    if (ends != null) {
      ends.close();
    }
  }

  /** Sends a burst from each server, so that the clients poll all frames in one duty cycle. */
  private void sendBurst(RdmaConnection... servers) {
    LimitedProvider.hold(true);
    // The clients post what they still had to post.
    await()
        .atMost(Ends.LIMIT)
        .until(
            () -> {
              pair.client().send(Flux.empty()).block(Ends.LIMIT);
              return LimitedProvider.heldPolls() > POLLS;
            });
    for (RdmaConnection each : servers) {
      for (int i = 0; i < BURST; i++) {
        send(each, i).block(Ends.LIMIT);
      }
    }
    Fault.receiveLists().clear();
    LimitedProvider.hold(false);
    // A further message wakes the loop, as the held completions do not.
    send(servers[0], BURST).onErrorComplete().block(Ends.LIMIT);
  }

  private static Mono<Void> send(RdmaConnection from, int number) {
    return from.send(Mono.fromSupplier(() -> Ends.message(from, LENGTH, number)));
  }

  @Test
  void postsTheReceivesOfADutyCycleAsOneList() {
    CompletableFuture<Long> received =
        pair.client().receive().doOnNext(ByteBuf::release).take(BURST + 1).count().toFuture();

    sendBurst(pair.server());

    assertThat(received).succeedsWithin(Ends.LIMIT);
    await().atMost(Ends.LIMIT).until(() -> posted() > BURST);
    assertThat(Fault.receiveLists()).anyMatch(length -> length >= BURST);
  }

  /**
   * The sends give the peers credits for these receives; so each list of receives precedes its
   * sends.
   */
  @Test
  void postsTheReceivesOfAConnectionAheadOfItsSends() {
    Ends.Pair other = ends.connect(address);
    for (Ends.Pair each : List.of(pair, other)) {
      each.client().send(each.client().receive()).onErrorComplete().subscribe();
    }
    CompletableFuture<Long> back =
        Flux.merge(pair.server().receive(), other.server().receive())
            .doOnNext(ByteBuf::release)
            .take(2 * BURST + 1)
            .count()
            .toFuture();

    sendBurst(pair.server(), other.server());

    assertThat(back).succeedsWithin(Ends.LIMIT);
    assertThat(Fault.receiveLists().stream().limit(4))
        .satisfiesExactly(
            first -> assertThat(first).isGreaterThanOrEqualTo(BURST),
            sends -> assertThat(sends).isZero(),
            second -> assertThat(second).isGreaterThanOrEqualTo(BURST),
            sends -> assertThat(sends).isZero());
  }

  private static int posted() {
    return Fault.receiveLists().stream().mapToInt(Integer::intValue).sum();
  }

  @Test
  void closesWhileReceivesWaitToBePosted() {
    AtomicInteger messages = new AtomicInteger();
    pair.client()
        .receive()
        .subscribe(
            message -> {
              message.release();
              if (messages.incrementAndGet() == BURST / 2) {
                pair.client().dispose();
              }
            },
            e -> {});

    sendBurst(pair.server());

    pair.client().onClose().onErrorComplete().block(Ends.LIMIT);
    assertThat(pair.client().isDisposed()).isTrue();
    assertThat(posted()).as("posted of the dying connection").isZero();
    pair.server().onClose().onErrorComplete().block(Ends.LIMIT);
  }
}
