// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.LimitedProvider;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Tests that a cancellation before, during or after an operation leaks nothing. */
class CancelTest {
  private static final int LENGTH = 1 << 16;
  private static final int LONGEST_SPIN = 6000;

  private Ends ends;
  private Ends.Pair pair;
  private RdmaMemory.Region region;
  private RemoteMemory token;

  @BeforeEach
  void connect() {
    ends = Ends.create(Ends.options().pollMode(PollMode.ADAPTIVE));
    pair = ends.connectLimited();
    region =
        pair.server()
            .memory()
            .register(
                ByteBuffer.allocateDirect(LENGTH), Set.of(Right.READ, Right.WRITE, Right.ATOMIC));
    token = region.token();
  }

  /** Fails if anything is still open; the leak detector checks the buffers. */
  @AfterEach
  void close() {
    LimitedProvider.hold(false);
    region.close();
    ends.close();
  }

  private record Operation(
      String name, BiFunction<RdmaConnection, RemoteMemory, Publisher<?>> start) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Arguments> operations() {
    return Stream.of(
            new Operation("read", (c, t) -> c.read(t).doOnNext(ByteBuf::release)),
            new Operation(
                "readInto",
                (c, t) ->
                    Mono.using(
                        () -> Unpooled.directBuffer(LENGTH),
                        into -> c.read(t, into),
                        b -> b.release())),
            new Operation("readPieces", (c, t) -> c.readPieces(t, 1000).doOnNext(ByteBuf::release)),
            new Operation(
                "write", (c, t) -> Mono.defer(() -> c.write(Ends.message(c, LENGTH, 1), t))),
            new Operation(
                "writeWithImmediate",
                (c, t) -> Mono.defer(() -> c.writeWithImmediate(Ends.message(c, 100, 1), t, 1))),
            new Operation("fetchAndAdd", (c, t) -> c.fetchAndAdd(t.slice(0, 8), 1)),
            new Operation("compareAndSwap", (c, t) -> c.compareAndSwap(t.slice(0, 8), 0, 0)),
            new Operation(
                "send",
                (c, t) -> c.send(Flux.range(0, 50).map(n -> Ends.message(c, 20 << (n % 12), n)))),
            new Operation("receive", (c, t) -> c.receive().doOnNext(ByteBuf::release)),
            new Operation("immediates", (c, t) -> c.immediates()))
        .map(Arguments::of);
  }

  private Publisher<?> start(Operation operation) {
    return operation.start().apply(pair.client(), token);
  }

  private void assertStillWorks() {
    await()
        .atMost(Ends.LIMIT)
        .untilAsserted(
            () ->
                assertThat(pair.client().read(token.slice(0, 5)).map(Ends::take).block(Ends.LIMIT))
                    .hasSize(5));
  }

  @ParameterizedTest
  @MethodSource("operations")
  void beforeItBegins(Operation operation) {
    Flux.from(start(operation))
        .subscribe(
            new BaseSubscriber<Object>() {
              @Override
              protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
                cancel();
              }
            });
    assertStillWorks();
  }

  @ParameterizedTest
  @MethodSource("operations")
  void whileTheHcaIsAtWork(Operation operation) {
    LimitedProvider.hold(true);
    List<Disposable> running = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      running.add(Flux.from(start(operation)).subscribe(null, e -> {}));
    }
    running.forEach(Disposable::dispose);
    LimitedProvider.hold(false);
    assertStillWorks();
  }

  @ParameterizedTest
  @MethodSource("operations")
  void atAnyMoment(Operation operation) {
    CompletableFuture<Long> drained =
        pair.server().receive().doOnNext(ByteBuf::release).count().toFuture();
    Disposable notices = pair.server().immediates().subscribe();
    int rounds = Addresses.rounds(300);
    for (int i = 0; i < rounds; i++) {
      Disposable running = Flux.from(start(operation)).subscribe(null, e -> {});
      for (int spin = 0; spin < LONGEST_SPIN * i / rounds; spin++) {
        Thread.onSpinWait();
      }
      running.dispose();
    }
    assertStillWorks();
    notices.dispose();
    pair.client().close().block(Ends.LIMIT);
    assertThat(drained).succeedsWithin(Ends.LIMIT);
  }

  @ParameterizedTest
  @MethodSource("operations")
  void whenTheConnectionIsDisposed(Operation operation) {
    LimitedProvider.hold(true);
    List<CompletableFuture<?>> running = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      running.add(Flux.from(start(operation)).then().toFuture());
    }
    pair.client().dispose();
    LimitedProvider.hold(false);
    pair.client().onClose().block(Ends.LIMIT);
    await().atMost(Ends.LIMIT).until(() -> running.stream().allMatch(CompletableFuture::isDone));
  }

  @Test
  void afterItCompleted() {
    AtomicInteger values = new AtomicInteger();
    BaseSubscriber<ByteBuf> subscriber =
        new BaseSubscriber<>() {
          @Override
          protected void hookOnNext(ByteBuf buffer) {
            buffer.release();
            values.incrementAndGet();
          }
        };
    pair.client().read(token).subscribe(subscriber);
    await().atMost(Ends.LIMIT).until(() -> values.get() == 1);
    subscriber.cancel();
    subscriber.cancel();
    assertStillWorks();
  }

  @Test
  void ofAReceiveBetweenTheReadsOfALongMessageLeavesTheCloseToGoOn() throws Exception {
    CountDownLatch announced = new CountDownLatch(1);
    Disposable receiving =
        pair.client()
            .receive()
            .subscribe(
                message -> {
                  message.release();
                  // The long message is announced in the same frame: its first READs are posted
                  // next.
                  LimitedProvider.hold(true);
                  announced.countDown();
                });
    CompletableFuture<Void> sent =
        pair.server()
            .send(
                Flux.just(
                    Ends.message(pair.server(), 1, 1), Ends.message(pair.server(), 500_000, 2)))
            .toFuture();
    assertThat(announced.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    for (int turn = 0; turn < 3; turn++) {
      pair.client().send(Mono.empty()).block(Ends.LIMIT);
    }

    receiving.dispose();
    CompletableFuture<Void> closed = pair.client().close().toFuture();
    pair.server().receive().then().block(Ends.LIMIT);
    LimitedProvider.hold(false);

    assertThat(sent).succeedsWithin(Ends.LIMIT);
    assertThat(closed).succeedsWithin(Ends.LIMIT);
  }

  @Test
  void ofASendReleasesWhatWasNotOnItsWay() {
    Sinks.Many<ByteBuf> source = Sinks.many().unicast().onBackpressureBuffer();
    List<ByteBuf> messages = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      ByteBuf message = Ends.message(pair.client(), 100, i);
      messages.add(message);
      source.tryEmitNext(message);
    }
    AtomicInteger dropped = new AtomicInteger();
    Disposable send =
        pair.client()
            .send(
                source
                    .asFlux()
                    .doOnDiscard(
                        ByteBuf.class,
                        message -> {
                          message.release();
                          dropped.incrementAndGet();
                        }))
            .subscribe();
    await().atMost(Ends.LIMIT).until(() -> messages.get(255).refCnt() == 0);
    send.dispose();

    await()
        .atMost(Ends.LIMIT)
        .until(() -> messages.stream().allMatch(message -> message.refCnt() == 0));
    assertThat(dropped).hasValue(144);
  }

  @Test
  void ofASendWhosePeerReadsAMessageHoldsItUntilThatIsDone() {
    ByteBuf message = Ends.message(pair.client(), 50_000, 1);
    Disposable send = pair.client().send(Mono.just(message)).subscribe();
    pair.client()
        .send(Mono.fromSupplier(() -> Ends.message(pair.client(), 1, 1)))
        .block(Ends.LIMIT);
    send.dispose();

    assertThat(message.refCnt()).isEqualTo(1);
    assertThat(
            pair.server().receive().map(Ends::take).take(2).collectList().block(Ends.LIMIT).get(0))
        .isEqualTo(Ends.bytes(50_000, 1));
    await().atMost(Ends.LIMIT).until(() -> message.refCnt() == 0);
  }
}
