// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.ConnectionClosedException;
import io.verbena.HcaException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaConnection.Immediate;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import io.verbena.reactor.testing.hca.LimitedProvider;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests an HCA without immediate data and gather, with a short maximum message size. */
@Tag("moves-data")
class LimitedHcaTest {
  private static final int LENGTH = 100_000;

  private final ByteBuffer memory = ByteBuffer.allocateDirect(LENGTH);
  private Ends ends;
  private Ends.Pair pair;
  private RdmaMemory.Region region;
  private RemoteMemory token;

  @BeforeEach
  void connect() {
    ends = Ends.create(Ends.options().window(8));
    pair = ends.connectLimited();
    memory.put(0, Ends.bytes(LENGTH, 1));
    region = pair.server().memory().register(memory, Set.of(Right.READ, Right.WRITE));
    token = region.token();
  }

  @AfterEach
  void close() {
    region.close();
    ends.close();
  }

  @Test
  void splitsReadsAndWrites() {
    assertThat(pair.client().read(token).map(Ends::take).block(Ends.LIMIT))
        .isEqualTo(Ends.bytes(LENGTH, 1));

    pair.client().write(Ends.message(pair.client(), LENGTH, 2), token).block(Ends.LIMIT);

    byte[] written = new byte[LENGTH];
    memory.get(0, written);
    assertThat(written).isEqualTo(Ends.bytes(LENGTH, 2));
  }

  @ParameterizedTest
  @ValueSource(ints = {5000, 9999, 200_000})
  void carriesMessagesBothWays(int size) {
    CompletableFuture<List<byte[]>> there =
        pair.server().receive().take(20).map(Ends::take).collectList().toFuture();
    CompletableFuture<List<byte[]>> back =
        pair.client().receive().take(20).map(Ends::take).collectList().toFuture();

    Mono.when(
            pair.client().send(Flux.range(0, 20).map(n -> Ends.message(pair.client(), size, n))),
            pair.server().send(Flux.range(0, 20).map(n -> Ends.message(pair.server(), size, -n))))
        .block(Ends.LIMIT);

    assertThat(there).succeedsWithin(Ends.LIMIT);
    assertThat(back).succeedsWithin(Ends.LIMIT);
    for (int n = 0; n < 20; n++) {
      assertThat(there.join().get(n)).isEqualTo(Ends.bytes(size, n));
      assertThat(back.join().get(n)).isEqualTo(Ends.bytes(size, -n));
    }
  }

  @Test
  void tellsOfWritesInFrames() {
    CompletableFuture<List<Immediate>> notices =
        pair.server().immediates().take(30).collectList().toFuture();

    Flux.range(0, 30)
        .flatMapSequential(
            i ->
                pair.client()
                    .writeWithImmediate(Ends.message(pair.client(), 20_000 + i, i), token, i - 10))
        .blockLast(Ends.LIMIT);

    assertThat(notices).succeedsWithin(Ends.LIMIT);
    assertThat(notices.join().get(29)).isEqualTo(new Immediate(19, 20_029));
    byte[] written = new byte[20_029];
    memory.get(0, written);
    assertThat(written).isEqualTo(Ends.bytes(20_029, 29));
  }

  @Test
  void failsNoticesThatAreOnTheirWayWhenItCloses() {
    List<CompletableFuture<Void>> writes =
        Flux.range(0, 20)
            .map(
                i ->
                    pair.client()
                        .writeWithImmediate(Ends.message(pair.client(), 10, i), token, i)
                        .toFuture())
            .collectList()
            .block();
    pair.client().dispose();

    pair.client().onClose().block(Ends.LIMIT);
    assertThat(writes).allSatisfy(write -> assertThat(write).isDone());
    assertThat(writes.get(19)).isCompletedExceptionally();
  }

  @Test
  void readsPiecesThatAreLongerThanItsMessages() {
    assertThat(
            pair.client()
                .readPieces(token, 33_000)
                .map(ByteBuf::retain)
                .doOnNext(ByteBuf::release)
                .map(buffer -> Ends.take(buffer).length)
                .collectList()
                .block(Ends.LIMIT))
        .containsExactly(33_000, 33_000, 33_000, 1_000);
  }

  @Test
  void releasesTheMessageForWhichThereWasNoPlaceAsAFrameWasRefused() {
    RdmaConnection refused =
        ends.clientSide()
            .connect(
                LimitedProvider.faulty(
                    ends.server().address(), Fault.Place.POST_SEND, Fault.Kind.EXCEPTION))
            .block(Ends.LIMIT);
    List<ByteBuf> messages = List.of(heap(1), heap(2));

    // Each message fills a frame: the frame of the first is posted when the second comes.
    CompletableFuture<Void> sent = refused.send(Flux.fromIterable(messages)).toFuture();

    assertThat(sent).failsWithin(Ends.LIMIT);
    assertThat(messages).allSatisfy(each -> assertThat(each.refCnt()).isZero());
  }

  @Test
  void beginsAgainWhatTheHcaRefusesThoughThousandsWait() {
    assumeFalse(Ends.linkRequests(), "a refused request costs the connection");
    try (Ends narrow = Ends.create(Ends.options().sendDepth(4))) {
      RdmaConnection client =
          narrow
              .connect(
                  LimitedProvider.faulty(
                      narrow.server().address(), Fault.Place.POST_ANY_SEND, Fault.Kind.EXCEPTION))
              .client();
      RemoteMemory from = token(narrow).slice(0, 8);
      AtomicInteger refused = new AtomicInteger();
      int waiting = Addresses.rounds(3000);

      // Started on the loop: two reads take the slots, for which all others wait.
      Mono<Long> read =
          client
              .read(from)
              .doOnNext(ByteBuf::release)
              .flatMapMany(first -> Flux.range(0, waiting))
              .doOnNext(i -> Fault.refuseSends(i >= 2))
              .flatMap(
                  i ->
                      client
                          .read(from)
                          .doOnNext(ByteBuf::release)
                          .doOnError(
                              e -> {
                                if (refused.incrementAndGet() == waiting) {
                                  Fault.refuseSends(false);
                                }
                              })
                          .retry(),
                  waiting)
              .count();

      assertThat(read.block(Ends.LIMIT)).isEqualTo(waiting);
    } finally {
      Fault.refuseSends(false);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"POST_SEND", "POST_SECOND_SEND"})
  void keepsTheCreditOfANoticeThatIsNotSentAsTheWriteWasRefused(Fault.Place place) {
    assumeFalse(Ends.linkRequests(), "a refused request costs the connection");
    try (Ends narrow = Ends.create(Ends.options().window(1))) {
      Ends.Pair refused =
          narrow.connect(
              LimitedProvider.faulty(narrow.server().address(), place, Fault.Kind.EXCEPTION));
      RdmaMemory.Region target =
          refused
              .server()
              .memory()
              .register(ByteBuffer.allocateDirect(LENGTH), Set.of(Right.WRITE));
      RemoteMemory to = target.token();

      assertThatThrownBy(
              () ->
                  refused
                      .client()
                      .writeWithImmediate(Ends.message(refused.client(), LENGTH, 1), to, 1)
                      .block(Ends.LIMIT))
          .isInstanceOf(HcaException.class);
      refused
          .client()
          .writeWithImmediate(Ends.message(refused.client(), LENGTH, 2), to, 2)
          .block(Ends.LIMIT);

      assertThat(refused.server().immediates().next().block(Ends.LIMIT))
          .isEqualTo(new Immediate(2, LENGTH));
      target.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void endsAWriteWhoseMemoryTheHcaKeeps(Fault.Kind kind) {
    try (Ends uncached = Ends.create(Ends.options().maxCachedRegistrations(0))) {
      RdmaConnection client = keeping(uncached, kind);
      ByteBuf data = Ends.fill(Unpooled.directBuffer(LENGTH, LENGTH), LENGTH, 3);

      client.write(data, token(uncached)).block(Ends.LIMIT);

      assertThat(data.refCnt()).isZero();
      byte[] written = new byte[LENGTH];
      memory.get(0, written);
      assertThat(written).isEqualTo(Ends.bytes(LENGTH, 3));
    }
  }

  @ParameterizedTest
  @EnumSource
  void endsAReadWhoseMemoryTheHcaKeeps(Fault.Kind kind) {
    try (Ends uncached = Ends.create(Ends.options().maxCachedRegistrations(0))) {
      RdmaConnection client = keeping(uncached, kind);
      ByteBuf into = Unpooled.directBuffer(LENGTH, LENGTH);

      client.read(token(uncached), into).block(Ends.LIMIT);

      assertThat(into.refCnt()).isOne();
      assertThat(Ends.take(into)).isEqualTo(Ends.bytes(LENGTH, 1));
    }
  }

  @ParameterizedTest
  @EnumSource
  void receivesALongMessageWhoseMemoryTheHcaKeeps(Fault.Kind kind) {
    try (Ends faulty = Ends.create()) {
      Ends.Pair kept =
          faulty.connect(
              LimitedProvider.faulty(faulty.server().address(), Fault.Place.DEREGISTER, kind));
      List<byte[]> received = new CopyOnWriteArrayList<>();
      CompletableFuture<Void> ended =
          kept.client().receive().doOnNext(each -> received.add(Ends.take(each))).then().toFuture();

      kept.server()
          .send(Mono.just(Ends.message(kept.server(), 1 << 20, 1)))
          .onErrorComplete(RdmaException.class)
          .block(Ends.LIMIT);

      assertThat(ended)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(ConnectionClosedException.class)
          .withMessageContaining(Fault.MESSAGE);
      assertThat(received).containsExactly(Ends.bytes(1 << 20, 1));
    }
  }

  private static RdmaConnection keeping(Ends ends, Fault.Kind kind) {
    return ends.connect(
            LimitedProvider.faulty(ends.server().address(), Fault.Place.DEREGISTER, kind))
        .client();
  }

  /** Returns a token for the same memory at another server. */
  private RemoteMemory token(Ends ends) {
    return ends.server().memory().register(memory, Set.of(Right.READ, Right.WRITE)).token();
  }

  private static ByteBuf heap(long seed) {
    return Ends.fill(Unpooled.buffer(), 7000, seed);
  }
}
