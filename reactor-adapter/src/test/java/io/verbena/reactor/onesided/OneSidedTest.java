// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.verbena.LocalAccessException;
import io.verbena.OperationLimitException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaConnection.Immediate;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaTimeoutException;
import io.verbena.RemoteAccessException;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.RemoteRequestException;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.verbs.CompletionStatus;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

@Tag("moves-data")
class OneSidedTest {
  private static final int LENGTH = 1 << 20;
  private static final String NO_ATOMICS = "the HCA has no atomics";

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(LENGTH).order(ByteOrder.nativeOrder());
  private Ends ends;
  private Ends.Pair pair;
  private RdmaMemory.Region region;
  private RemoteMemory token;

  @BeforeEach
  void connect() {
    ends = Ends.create(Ends.options().window(8));
    pair = ends.connect();
    region =
        Ends.haveAtomics()
            ? register(memory, Right.READ, Right.WRITE, Right.ATOMIC)
            : register(memory, Right.READ, Right.WRITE);
    token = region.token();
    memory.put(0, Ends.bytes(LENGTH, 1));
  }

  private RdmaMemory.Region register(ByteBuffer buffer, Right... rights) {
    return pair.server().memory().register(buffer, Set.of(rights));
  }

  @AfterEach
  void close() {
    region.close();
    ends.close();
  }

  private byte[] at(int offset, int length) {
    byte[] bytes = new byte[length];
    memory.get(offset, bytes);
    return bytes;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4096, 100_001, LENGTH})
  void readsThePeersMemory(int length) {
    byte[] read = pair.client().read(token.slice(0, length)).map(Ends::take).block(Ends.LIMIT);

    assertThat(read).isEqualTo(at(0, length));
  }

  @Test
  void readsIntoRegisteredForeignAndHeapBuffers() {
    List<ByteBuf> targets =
        List.of(
            pair.client().memory().allocator().directBuffer(10_000),
            Unpooled.directBuffer(10_000),
            Unpooled.buffer(10_000));
    for (ByteBuf into : targets) {
      into.writeByte(42);
      pair.client().read(token.slice(5, 9999), into).block(Ends.LIMIT);

      assertThat(into.refCnt()).isEqualTo(1);
      assertThat(into.readByte()).isEqualTo((byte) 42);
      assertThat(Ends.take(into)).isEqualTo(at(5, 9999));
    }
  }

  /** The loop handles the cancellation before the subscribing thread continues. */
  @Test
  void releasesABufferWhoseReadIsCancelledWhileItStarts() {
    BaseSubscriber<Void> subscriber = new BaseSubscriber<>() {};
    ByteBuf into =
        new UnpooledDirectByteBuf(UnpooledByteBufAllocator.DEFAULT, 64, 64) {
          @Override
          public ByteBuf retain() {
            subscriber.cancel();
            pair.client().read(token.slice(0, 8)).doOnNext(ByteBuf::release).block(Ends.LIMIT);
            return super.retain();
          }
        };

    pair.client().read(token.slice(0, 64), into).subscribe(subscriber);

    await().atMost(Ends.LIMIT).untilAsserted(() -> assertThat(into.refCnt()).isOne());
    into.release();
  }

  @ParameterizedTest
  @ValueSource(strings = {"registered", "foreign", "heap"})
  void failsAReadIntoABufferThatGetsOtherMemoryMeanwhile(String kind) {
    ByteBuf into =
        switch (kind) {
          case "registered" -> pair.client().memory().allocator().directBuffer(100, 1 << 20);
          case "foreign" -> Unpooled.directBuffer(100, 1 << 20);
          default -> Unpooled.buffer(100, 1 << 20);
        };
    // Started on the loop, so that no read completes before the buffer grows.
    Mono<Void> read =
        pair.client()
            .read(token.slice(0, 8))
            .doOnNext(ByteBuf::release)
            .flatMap(
                first -> {
                  CompletableFuture<Void> begun =
                      pair.client().read(token.slice(0, 100), into).toFuture();
                  into.capacity(10_000);
                  return Mono.fromFuture(begun);
                });

    if (!kind.equals("registered")) {
      // The read used other memory, as the buffer's old memory may belong to another buffer by now.
      read.block(Ends.LIMIT);
      assertThat(Ends.take(into)).isEqualTo(at(0, 100));
    } else {
      assertThatThrownBy(() -> read.block(Ends.LIMIT))
          .isInstanceOf(LocalAccessException.class)
          .hasMessageContaining("capacity 10000");
      assertThat(into.refCnt()).isOne();
      into.release();
    }
    pair.client().read(token.slice(0, 8)).doOnNext(ByteBuf::release).block(Ends.LIMIT);
  }

  @Test
  void readsIntoACompositeBufferThatLetsGoOfItsComponentMeanwhile() {
    CompositeByteBuf into =
        Unpooled.compositeBuffer()
            .addComponents(
                pair.client().memory().allocator().directBuffer(100, 100).writeZero(100),
                Unpooled.buffer(8).writeZero(8));

    // Started on the loop, so that no read completes before the consolidation.
    ByteBuf next =
        pair.client()
            .read(token.slice(0, 8))
            .doOnNext(ByteBuf::release)
            .flatMap(
                first -> {
                  Mono<Void> begun =
                      Mono.fromFuture(pair.client().read(token.slice(0, 100), into).toFuture());
                  into.consolidate();
                  // This buffer gets the memory that the composite buffer has released.
                  ByteBuf other = pair.client().memory().allocator().directBuffer(100, 100);
                  other.writeZero(100);
                  return begun.thenReturn(other);
                })
            .blockOptional(Ends.LIMIT)
            .orElseThrow();

    assertThat(Ends.take(next)).containsOnly(0);
    assertThat(Ends.take(into)).isEqualTo(at(0, 100));
  }

  @Test
  void readsAgainForEachSubscription() {
    Mono<byte[]> read = pair.client().read(token.slice(8, 16)).map(Ends::take);

    assertThat(Flux.concat(read, read, read).collectList().block(Ends.LIMIT))
        .hasSize(3)
        .allSatisfy(bytes -> assertThat(bytes).isEqualTo(at(8, 16)));
  }

  @Test
  void readsManyAtOnce() {
    Long sum =
        Flux.range(0, 1000)
            .flatMap(
                i -> pair.client().read(token.slice(i * 8L, 8)).map(OneSidedTest::takeLong), 500)
            .reduce(0L, Long::sum)
            .block(Ends.LIMIT);

    long expected = 0;
    for (int i = 0; i < 1000; i++) {
      expected += Long.reverseBytes(memory.getLong(i * 8));
    }
    assertThat(sum).isEqualTo(expected);
  }

  private static long takeLong(ByteBuf buffer) {
    long value = buffer.readLong();
    buffer.release();
    return value;
  }

  @Test
  void readsInPiecesInOrder() {
    byte[] all = new byte[LENGTH];
    int[] at = {0};
    pair.client()
        .readPieces(token, 70_000)
        .doOnNext(
            piece -> {
              int length = piece.readableBytes();
              piece.readBytes(all, at[0], length);
              at[0] += length;
              piece.release();
            })
        .blockLast(Ends.LIMIT);

    assertThat(all).isEqualTo(at(0, LENGTH));
  }

  @Test
  void readsPiecesOnDemandOnly() {
    StepVerifier.create(
            pair.client().readPieces(token, 100_000).map(buffer -> Ends.take(buffer).length), 0)
        .thenRequest(2)
        .expectNext(100_000, 100_000)
        .then(() -> assertThat(pair.client().memory().registeredBytes()).isPositive())
        .thenRequest(1)
        .expectNext(100_000)
        .thenCancel()
        .verify(Ends.LIMIT);
  }

  @Test
  void failsBehindThePieceInWhichTheConnectionIsDisposed() {
    try (Ends narrow = Ends.create(Ends.options().sendDepth(4))) {
      Ends.Pair other = narrow.connect();
      RdmaMemory.Region source =
          other.server().memory().register(ByteBuffer.allocateDirect(LENGTH), Set.of(Right.READ));
      List<String> signals = new CopyOnWriteArrayList<>();
      other
          .client()
          .readPieces(source.token(), 1000)
          .subscribe(
              piece -> {
                signals.add("piece");
                piece.release();
                // Pieces that wait for a slot fail within this call.
                other.client().dispose();
                signals.add("taken");
              },
              error -> signals.add("error"));

      await().atMost(Ends.LIMIT).until(() -> signals.contains("error"));
      assertThat(signals).containsExactly("piece", "taken", "error");
      source.close();
    }
  }

  @Test
  void endsWithTheLastPiece() {
    StepVerifier.create(
            pair.client().readPieces(token.slice(0, 25), 10).map(b -> Ends.take(b).length))
        .expectNext(10, 10, 5)
        .expectComplete()
        .verify(Ends.LIMIT);
    StepVerifier.create(pair.client().readPieces(token.slice(0, 0), 10))
        .expectComplete()
        .verify(Ends.LIMIT);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 511, 512, 100_000})
  void writesFromAnyKindOfBuffer(int length) {
    List<ByteBuf> sources =
        List.of(
            Ends.message(pair.client(), length, 10),
            Ends.fill(Unpooled.directBuffer(), length, 11),
            Ends.fill(Unpooled.buffer(), length, 12));
    for (int i = 0; i < sources.size(); i++) {
      pair.client().write(sources.get(i), token.slice(7, LENGTH - 7)).block(Ends.LIMIT);

      assertThat(at(7, length)).isEqualTo(Ends.bytes(length, 10 + i));
      assertThat(sources.get(i).refCnt()).isZero();
    }
  }

  @Test
  void tellsThePeerOfAWriteAfterItsBytes() {
    CompletableFuture<List<Immediate>> notices =
        pair.server().immediates().take(20).collectList().toFuture();

    Flux.range(0, 20)
        .concatMap(
            i ->
                pair.client()
                    .writeWithImmediate(
                        Ends.message(pair.client(), 100 + i, i), token.slice(i * 200L, 200), -i))
        .blockLast(Ends.LIMIT);

    assertThat(notices).succeedsWithin(Ends.LIMIT);
    for (int i = 0; i < 20; i++) {
      assertThat(notices.join().get(i)).isEqualTo(new Immediate(-i, 100 + i));
      assertThat(at(i * 200, 100 + i)).isEqualTo(Ends.bytes(100 + i, i));
    }
  }

  @Test
  void tellsThePeerBehindAllWritesThatWereBegunBefore() {
    int writes = 8;
    int length = LENGTH / writes;
    ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH);
    try (Ends narrow = Ends.create(Ends.options().sendDepth(4))) {
      Ends.Pair other = narrow.connect();
      RdmaConnection client = other.client();
      RdmaMemory.Region target =
          other.server().memory().register(bytes, Set.of(Right.READ, Right.WRITE));
      RemoteMemory to = target.token();
      CompletableFuture<byte[]> seen =
          other
              .server()
              .immediates()
              .next()
              .map(
                  notice -> {
                    byte[] all = new byte[LENGTH];
                    bytes.get(0, all);
                    return all;
                  })
              .toFuture();
      ByteBuf data = Ends.message(client, LENGTH, 2);

      // Started on the loop, so that no slot becomes free before all have begun.
      List<Integer> done =
          client
              .read(to.slice(0, 8))
              .doOnNext(ByteBuf::release)
              .flatMapMany(first -> Flux.range(0, writes + 1))
              .flatMap(
                  i ->
                      (i == writes
                              ? client.writeWithImmediate(Unpooled.EMPTY_BUFFER, to, 1)
                              : client.write(
                                  data.retainedSlice(i * length, length),
                                  to.slice((long) i * length, length)))
                          .thenReturn(i),
                  writes + 1)
              .collectList()
              .block(Ends.LIMIT);
      data.release();

      assertThat(done).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, writes);
      assertThat(seen).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(LENGTH, 2));
      target.close();
    }
  }

  @Test
  void holdsNoticesBackThatThePeerDoesNotTake() {
    int window = 8;
    List<CompletableFuture<Void>> writes = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      writes.add(
          pair.client().writeWithImmediate(Ends.message(pair.client(), 8, i), token, i).toFuture());
    }
    for (int i = 0; i < window; i++) {
      assertThat(writes.get(i)).succeedsWithin(Ends.LIMIT);
    }
    // Reads and messages continue meanwhile.
    CompletableFuture<Long> messages =
        pair.server().receive().doOnNext(ByteBuf::release).take(50).count().toFuture();
    pair.client()
        .send(Flux.range(0, 50).map(n -> Ends.message(pair.client(), 8, n)))
        .block(Ends.LIMIT);
    assertThat(messages).succeedsWithin(Ends.LIMIT);
    assertThat(writes.get(window)).isNotDone();

    assertThat(
            pair.server()
                .immediates()
                .map(Immediate::value)
                .take(12)
                .collectList()
                .block(Ends.LIMIT))
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    assertThat(writes.get(11)).succeedsWithin(Ends.LIMIT);
  }

  @Test
  void countsWithoutGapsOrDuplicates() {
    assumeTrue(Ends.haveAtomics(), NO_ATOMICS);
    memory.putLong(64, 0);
    List<Long> tickets =
        Flux.range(0, 500)
            .flatMap(i -> pair.client().fetchAndAdd(token.slice(64, 8), 1), 100)
            .collectList()
            .block(Ends.LIMIT);

    assertThat(tickets).doesNotHaveDuplicates().hasSize(500).contains(0L, 499L);
    assertThat(memory.getLong(64)).isEqualTo(500);
  }

  @Test
  void swapsOnlyWhatIsAsExpected() {
    assumeTrue(Ends.haveAtomics(), NO_ATOMICS);
    memory.putLong(128, 7);

    assertThat(pair.client().compareAndSwap(token.slice(128, 8), 7, 9).block(Ends.LIMIT))
        .isEqualTo(7);
    assertThat(pair.client().compareAndSwap(token.slice(128, 8), 7, 11).block(Ends.LIMIT))
        .isEqualTo(9);
    assertThat(memory.getLong(128)).isEqualTo(9);
  }

  // ---- what is refused before the HCA is asked

  @Test
  void refusesWhatTheTokenDoesNotAllow() {
    RemoteMemory readable = new RemoteMemory(token.address(), 64, token.key(), Set.of(Right.READ));
    ByteBuf data = Ends.message(pair.client(), 8, 1);

    assertThatThrownBy(() -> pair.client().write(data, readable).block(Ends.LIMIT))
        .isInstanceOf(RemoteAccessException.class)
        .hasMessageContaining("rights: [READ] (expected: WRITE)");
    assertThat(data.refCnt()).isZero();
    assertThat(pair.client().isDisposed()).isFalse();
  }

  @Test
  void refusesAtomicsThatTheTokenDoesNotAllow() {
    assumeTrue(Ends.haveAtomics(), NO_ATOMICS);
    RemoteMemory readable = new RemoteMemory(token.address(), 64, token.key(), Set.of(Right.READ));

    assertThatThrownBy(() -> pair.client().fetchAndAdd(readable, 1).block(Ends.LIMIT))
        .isInstanceOf(RemoteAccessException.class);
    assertThat(pair.client().isDisposed()).isFalse();
  }

  @Test
  void refusesDataThatIsLongerThanTheToken() {
    ByteBuf data = Ends.message(pair.client(), 9, 1);

    assertThatThrownBy(() -> pair.client().write(data, token.slice(0, 8)).block(Ends.LIMIT))
        .isInstanceOf(RemoteAccessException.class)
        .hasMessageContaining("data length: 9 (expected: <= 8)");
    assertThat(data.refCnt()).isZero();
  }

  @Test
  void refusesMisalignedAtomics() {
    assumeTrue(Ends.haveAtomics(), NO_ATOMICS);
    assertThatThrownBy(() -> pair.client().fetchAndAdd(token.slice(4, 8), 1).block(Ends.LIMIT))
        .isInstanceOf(RemoteRequestException.class)
        .hasMessageContaining("expected: a multiple of 8");
    assertThat(pair.client().isDisposed()).isFalse();
  }

  @Test
  void refusesABufferThatIsTooSmall() {
    ByteBuf into = Unpooled.directBuffer(7, 7);

    assertThatThrownBy(() -> pair.client().read(token.slice(0, 8), into).block(Ends.LIMIT))
        .isInstanceOf(LocalAccessException.class)
        .hasMessageContaining("writable bytes: 7 (expected: >= 8)");
    assertThat(into.release()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, Integer.MAX_VALUE - 63, Integer.MAX_VALUE})
  void refusesPiecesThatNoBufferHolds(int pieceLength) {
    assertThatThrownBy(() -> pair.client().readPieces(token, pieceLength))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("pieceLength: " + pieceLength + " (expected: 1 to 2147483583)");
  }

  @Test
  void refusesTheSameDataTwice() {
    Mono<Void> write = pair.client().write(Ends.message(pair.client(), 8, 1), token);
    write.block(Ends.LIMIT);

    assertThatThrownBy(() -> write.block(Ends.LIMIT))
        .isInstanceOf(LocalAccessException.class)
        .hasMessageContaining("taken over by an earlier subscription");
  }

  @Test
  void refusesMoreOperationsThanMayWait() {
    try (Ends small = Ends.create(Ends.options().maxOperations(16).window(1))) {
      Ends.Pair other = small.connect();
      List<CompletableFuture<Void>> writes = new ArrayList<>();
      RdmaMemory.Region target =
          other.server().memory().register(ByteBuffer.allocateDirect(8), Set.of(Right.WRITE));
      for (int i = 0; i < 200; i++) {
        writes.add(
            other
                .client()
                .writeWithImmediate(Ends.message(other.client(), 8, i), target.token(), i)
                .toFuture());
      }
      // The first write has the only credit. When it is done, another may wait, perhaps the last.
      assertThat(writes.get(198).isCompletedExceptionally() ? writes.get(198) : writes.get(199))
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(OperationLimitException.class)
          .withMessageContaining("(expected: < 16");
      // The limit applies whether the write waited for the loop or for the peer.
      for (CompletableFuture<Void> write : writes) {
        if (write.isCompletedExceptionally()
            && write.handle((done, why) -> why).join() instanceof OperationLimitException e) {
          assertThat(e.operation()).isEqualTo("writeWithImmediate");
        }
      }
      target.close();
    }
  }

  @Test
  void timesOutWhenThePeerTakesNoNotice() {
    assumeFalse(Addresses.areLossy(), "what is lost comes later than this deadline");
    // The first write has to succeed within this time.
    try (Ends small =
        Ends.create(Ends.options().operationTimeout(Duration.ofSeconds(2)).window(1))) {
      Ends.Pair other = small.connect();
      RdmaMemory.Region target =
          other.server().memory().register(ByteBuffer.allocateDirect(8), Set.of(Right.WRITE));
      other
          .client()
          .writeWithImmediate(Ends.message(other.client(), 8, 1), target.token(), 1)
          .block(Ends.LIMIT);

      assertThatThrownBy(
              () ->
                  other
                      .client()
                      .writeWithImmediate(Ends.message(other.client(), 8, 1), target.token(), 1)
                      .block(Ends.LIMIT))
          .isInstanceOf(RdmaTimeoutException.class);
      assertThat(other.client().isDisposed()).isFalse();
      target.close();
    }
  }

  // ---- what only the peer's HCA can refuse; it costs the connection

  @Test
  void failsAReadBeyondTheRegion() {
    RemoteMemory beyond =
        new RemoteMemory(token.address() + 1, token.length(), token.key(), token.rights());

    assertRefused(pair.client().read(beyond).doOnNext(ByteBuf::release).then());
  }

  @Test
  void failsAWriteWithAWrongKey() {
    RemoteMemory wrong = new RemoteMemory(token.address(), 8, token.key() ^ 77, token.rights());

    // Deferred, so that a skipped test leaves no buffer.
    assertRefused(Mono.defer(() -> pair.client().write(Ends.message(pair.client(), 8, 1), wrong)));
  }

  @Test
  void failsAnOperationOnAClosedRegion() {
    region.close();

    assertRefused(pair.client().read(token.slice(0, 8)).doOnNext(ByteBuf::release).then());
  }

  private void assertRefused(Mono<Void> operation) {
    assumeFalse(Addresses.areLossy(), "the refusal may be lost, and the connection with it");
    CompletableFuture<Void> lost =
        pair.client().receive().doOnNext(ByteBuf::release).then().toFuture();
    if (Ends.haveRequestStatus()) {
      assertThatThrownBy(() -> operation.block(Ends.LIMIT))
          .isInstanceOfSatisfying(
              RemoteAccessException.class,
              e -> assertThat(e.status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR));
    } else {
      // A request may complete or be flushed: only the end of the connection shows the refusal.
      operation.onErrorComplete(RdmaException.class).block(Ends.LIMIT);
    }
    assertThat(lost).failsWithin(Ends.LIMIT);
    // The peer disconnects when it refuses: its disconnect or the completion may be seen first.
    StepVerifier.create(pair.client().onClose())
        .expectErrorMatches(
            e ->
                e instanceof RemoteAccessException
                    || e instanceof io.verbena.ConnectionClosedException)
        .verify(Ends.LIMIT);
    StepVerifier.create(pair.server().onClose())
        .expectError(io.verbena.ConnectionClosedException.class)
        .verify(Ends.LIMIT);
  }
}
