// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.wire.FrameLayout;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class MemoryCeilingTest {
  private static final AtomicLong NAMES = new AtomicLong();

  /** The default window. */
  private static final int WINDOW = 256;

  /** The bytes of a frame, by default. */
  private static final int FRAME = FrameLayout.capacity(8 << 10);

  private static RdmaOptions.Builder small() {
    // Waiting operations retry for memory at each tick; the tick follows the shortest timeout.
    return Ends.options()
        .closeTimeout(Addresses.within(Duration.ofSeconds(2)))
        .receiveDepth(8)
        .maxRegisteredBytes(4 << 20)
        .window(16);
  }

  @Test
  void goesOnWithCopiesWhenASubscriberKeepsAllItGets() {
    try (Ends ends = Ends.create(small(), Ends.options())) {
      Ends.Pair pair = ends.connect();
      int count = 2000;
      CompletableFuture<List<ByteBuf>> kept =
          pair.server().receive().take(count).collectList().toFuture();

      Flux.range(0, count)
          .concatMap(
              n -> pair.client().send(Mono.fromSupplier(() -> Ends.message(pair.client(), 64, n))))
          .blockLast(Ends.LIMIT);

      assertThat(kept).succeedsWithin(Ends.LIMIT);
      assertThat(kept.join()).anyMatch(ByteBuf::hasArray).anyMatch(ByteBuf::isDirect);
      for (int n = 0; n < count; n++) {
        assertThat(Ends.take(kept.join().get(n))).isEqualTo(Ends.bytes(64, n));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8000})
  void leavesMemoryToOthersWhenPeersStall(int length) {
    RdmaOptions.Builder limited = Ends.options().maxRegisteredBytes(16 << 20);
    try (Ends ends = Ends.create(limited, Ends.options())) {
      List<Ends.Pair> stalled = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Ends.Pair pair = ends.connect();
        stalled.add(pair);
        // Each message has a frame of its own, and no subscriber has requested it.
        for (int n = 0; n < WINDOW; n++) {
          pair.client().send(Mono.just(Ends.message(pair.client(), length, n))).block(Ends.LIMIT);
        }
      }

      Ends.Pair innocent = ends.connect();
      CompletableFuture<byte[]> received =
          innocent.server().receive().next().map(Ends::take).toFuture();
      innocent
          .client()
          .send(Mono.just(Ends.message(innocent.client(), 4 << 20, 1)))
          .block(Ends.LIMIT);

      assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(4 << 20, 1));
      for (Ends.Pair pair : stalled) {
        List<byte[]> late =
            pair.server().receive().take(WINDOW).map(Ends::take).collectList().block(Ends.LIMIT);
        for (int n = 0; n < WINDOW; n++) {
          assertThat(late.get(n)).isEqualTo(Ends.bytes(length, n));
        }
      }
    }
  }

  @Test
  void givesNoCreditsToPeersWhileTooMuchOfTheirsIsCopied() {
    int window = 512;
    // The limit of copies is 2 MiB: more than two windows, and less than three.
    RdmaOptions.Builder limited =
        Ends.options().loops(1).receiveDepth(8).maxRegisteredBytes(4 << 20).window(window);
    try (Ends ends = Ends.create(limited, Ends.options())) {
      List<Source> sources = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Source source = new Source(ends.connect());
        sources.add(source);
        await().atMost(Ends.LIMIT).until(() -> source.sent.get() == window);
        source.fence();
      }

      // The subscriber takes some messages and then stops.
      Source slow = sources.get(0);
      slow.take(100);
      slow.fence();
      assertThat(slow.sent).hasValue(window);
      Source late = new Source(ends.connect());
      await().atMost(Ends.LIMIT).until(() -> late.sent.get() >= 16);
      late.fence();
      assertThat(late.sent).hasValue(16);

      // The subscriber takes the rest, and all its credits are returned at last.
      slow.take(window - 100);
      await().atMost(Ends.LIMIT).until(() -> slow.sent.get() > window);
      late.take(1000);
    }
  }

  /** A peer that sends without end, with each message in a frame of its own. */
  private static final class Source {
    private final AtomicInteger sent = new AtomicInteger();
    private final Ends.Pair pair;
    private int fences;

    Source(Ends.Pair pair) {
      this.pair = pair;
      Flux.range(0, Integer.MAX_VALUE)
          .concatMap(
              n ->
                  pair.client()
                      .send(
                          Mono.fromSupplier(
                              () -> {
                                sent.incrementAndGet();
                                return Ends.message(pair.client(), 1900, n);
                              })),
              0)
          .onErrorComplete()
          .subscribe();
    }

    /** Waits for a message from the server, which also carries the credits granted so far. */
    void fence() {
      int number = ++fences;
      Mono<ByteBuf> message = Mono.fromSupplier(() -> Ends.message(pair.server(), 8, number));
      CompletableFuture<byte[]> came = pair.client().receive().next().map(Ends::take).toFuture();
      pair.server().send(message).block(Ends.LIMIT);
      assertThat(came).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(8, number));
    }

    void take(int count) {
      Long taken =
          pair.server().receive().take(count).doOnNext(ByteBuf::release).count().block(Ends.LIMIT);
      assertThat(taken).isEqualTo(count);
    }
  }

  @Test
  void sendsOnWithTheOneFrameThatIsLeft() {
    RdmaOptions.Builder limited = small().loops(1);
    try (Ends ends = Ends.create(Ends.options(), limited)) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<List<byte[]>> received =
          pair.server().receive().take(3).map(Ends::take).collectList().toFuture();
      // This frame is used again.
      pair.client().send(Mono.just(heap(8, 0))).block(Ends.LIMIT);
      List<ByteBuf> rest = new ArrayList<>();
      try {
        assertThatThrownBy(() -> allocateForEver(pair.client(), rest))
            .isInstanceOf(MemoryLimitException.class);

        // Each message fills a frame, and both frames arrive in one turn of the loop.
        pair.client().send(Flux.just(heap(7000, 1), heap(7000, 2))).block(Ends.LIMIT);

        assertThat(received)
            .succeedsWithin(Ends.LIMIT)
            .satisfies(all -> assertThat(all.get(2)).isEqualTo(Ends.bytes(7000, 2)));
      } finally {
        rest.forEach(ByteBuf::release);
      }
    }
  }

  private static ByteBuf heap(int length, long seed) {
    return Ends.fill(Unpooled.buffer(length), length, seed);
  }

  private static void allocateForEver(RdmaConnection connection, List<ByteBuf> held) {
    for (; ; ) {
      held.add(connection.memory().allocator().directBuffer(FRAME, FRAME));
    }
  }

  @Test
  void waitsForMemoryToPullALongMessage() {
    try (Ends ends = Ends.create(small(), Ends.options())) {
      Ends.Pair pair = ends.connect();
      ConcurrentLinkedQueue<ByteBuf> kept = new ConcurrentLinkedQueue<>();
      pair.server().receive().subscribe(kept::add);
      // At least four times as much as the ceiling.
      int count = Math.max(16, Addresses.rounds(20));
      CompletableFuture<Void> sent =
          pair.client()
              .send(Flux.range(0, count).map(n -> Ends.message(pair.client(), 1_000_000, n)))
              .toFuture();
      await().atMost(Ends.LIMIT).until(() -> kept.size() >= 2);

      for (int n = 0; n < count; n++) {
        await().atMost(Ends.LIMIT).until(() -> !kept.isEmpty());
        assertThat(Ends.take(kept.remove())).isEqualTo(Ends.bytes(1_000_000, n));
      }
      assertThat(sent).succeedsWithin(Ends.LIMIT);
    }
  }

  @Test
  void failsWhenMemoryForALongMessageNeverComesFree() {
    try (Ends ends =
        Ends.create(small().operationTimeout(Duration.ofMillis(200)), Ends.options())) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> received =
          pair.server().receive().doOnNext(ByteBuf::release).then().toFuture();
      pair.client()
          .send(Mono.fromSupplier(() -> Ends.message(pair.client(), 8 << 20, 1)))
          .subscribe(null, e -> {});

      assertThat(received).failsWithin(Ends.LIMIT);
      assertThat(pair.server().onClose().toFuture())
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(MemoryLimitException.class)
          .withMessageContaining("maxRegisteredBytes");
    }
  }

  @Test
  void failsASendThatCannotBeRegisteredAndStaysOpen() {
    try (Ends ends = Ends.create(Ends.options(), small())) {
      Ends.Pair pair = ends.connect();
      ByteBuf heap = Ends.fill(Unpooled.buffer(), 8 << 20, 1);

      assertThatThrownBy(() -> pair.client().send(Mono.just(heap)).block(Ends.LIMIT))
          .isInstanceOf(MemoryLimitException.class);
      assertThat(heap.refCnt()).isZero();
      assertThat(pair.client().isDisposed()).isFalse();
    }
  }

  @Test
  void refusesAConnectionAtOnceForWhichTheHcaTakesNoMemory() {
    assumeTrue(Addresses.areEmulated(), "no other HCA can be told to refuse");
    String address = Addresses.of("ceiling-" + NAMES.incrementAndGet()).toString();
    URI one = URI.create(address + (address.contains("?") ? "&" : "?") + "max-memory-regions=1");
    // The first receives are larger than a slab.
    RdmaTransport serverSide = RdmaTransport.create(Ends.options().eagerSize(1 << 20).build());
    RdmaTransport clientSide = RdmaTransport.create(Ends.options().build());
    try {
      RdmaServer server = serverSide.bind(one, connection -> Mono.never()).block(Ends.LIMIT);

      assertThatThrownBy(() -> clientSide.connect(server.address()).block(Ends.LIMIT))
          .isInstanceOf(RdmaConnectException.class)
          .hasMessageContaining("no resources left");
    } finally {
      clientSide.dispose();
      serverSide.dispose();
    }
  }

  @Test
  void refusesAConnectionThatFindsNoMemory() {
    RdmaOptions.Builder tiny = Ends.options().maxRegisteredBytes(1 << 16);
    try (Ends ends = Ends.create(Ends.options(), tiny)) {
      assertThatThrownBy(ends::connect).isInstanceOf(MemoryLimitException.class);
    }
    try (Ends ends = Ends.create(tiny, Ends.options())) {
      assertThatThrownBy(ends::connect)
          .isInstanceOf(RdmaConnectException.class)
          .hasMessageContaining("no resources left");
    }
  }
}
