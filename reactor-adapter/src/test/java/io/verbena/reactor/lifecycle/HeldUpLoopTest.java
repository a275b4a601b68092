// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTimeoutException;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests that operations of other threads end in time while a subscriber blocks their loop. */
class HeldUpLoopTest {
  private final CountDownLatch letGo = new CountDownLatch(1);

  @AfterEach
  void letGo() {
    letGo.countDown();
  }

  private static RdmaOptions.Builder quick(int loops) {
    return Ends.options()
        .loops(loops)
        .stallWarning(Duration.ofMillis(50))
        .operationTimeout(Addresses.within(Duration.ofMillis(500)))
        .closeTimeout(Addresses.within(Duration.ofMillis(500)));
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void failsWhatWaitsForItOnOtherThreads() {
    try (Ends ends = Ends.create(Ends.options(), quick(1).connectTimeout(Ends.SHORT))) {
      Ends.Pair pair = ends.connect();
      RdmaConnection disposed = ends.connect().client();
      RdmaConnection client = pair.client();
      ByteBuffer memory = ByteBuffer.allocateDirect(64);
      RdmaMemory.Region region =
          pair.server().memory().register(memory, Set.of(Right.READ, Right.WRITE));
      AtomicBoolean asked = new AtomicBoolean();
      ByteBuf written = Ends.message(client, 8, 1);
      ByteBuf into = Unpooled.directBuffer(64);
      String loop = holdUp(client);

      CompletableFuture<?> connect = ends.clientSide().connect(ends.address()).toFuture();
      CompletableFuture<?> read = client.read(region.token()).toFuture();
      CompletableFuture<?> readInto = client.read(region.token(), into).toFuture();
      CompletableFuture<?> write = client.write(written, region.token().slice(0, 8)).toFuture();
      CompletableFuture<?> send =
          client
              .send(
                  Mono.fromSupplier(
                      () -> {
                        asked.set(true);
                        return Ends.message(client, 8, 1);
                      }))
              .toFuture();
      CompletableFuture<?> onClose = client.onClose().toFuture();
      CompletableFuture<?> close = client.close().toFuture();
      CompletableFuture<?> lost = disposed.onClose().toFuture();
      disposed.dispose();

      for (CompletableFuture<?> each : new CompletableFuture<?>[] {read, readInto, write, send}) {
        failsFor(each, loop);
      }
      failsFor(connect, loop);
      failsFor(close, loop);
      failsFor(onClose, loop);
      failsFor(lost, loop);

      assertThat(written.refCnt()).isEqualTo(1);
      letGo.countDown();
      await().atMost(Ends.LIMIT).until(() -> written.refCnt() == 0 && into.refCnt() == 1);
      await().atMost(Ends.LIMIT).until(client::isDisposed);
      await().atMost(Ends.LIMIT).until(disposed::isDisposed);
      // The peer sees the end, too, and both ends release everything.
      pair.server().onClose().onErrorComplete().block(Ends.LIMIT);
      assertThat(asked).isFalse();
      assertThat(memory.getLong(0)).isZero();
      into.release();
      region.close();
      assertThat(ends.connect().client().isDisposed()).isFalse();
    }
  }

  @Test
  void failsWhatItHasTakenUp() {
    try (Ends ends = Ends.create(Ends.options(), quick(1).sendDepth(4))) {
      Ends.Pair pair = ends.connect();
      RdmaConnection client = pair.client();
      ByteBuffer memory = ByteBuffer.allocateDirect(64);
      RdmaMemory.Region region =
          pair.server().memory().register(memory, EnumSet.allOf(Right.class));
      RemoteMemory at = region.token();
      ByteBuf written = Ends.message(client, 8, 1);
      ByteBuf notified = Ends.message(client, 8, 2);
      ByteBuf into = Unpooled.directBuffer(64);
      ByteBuf sent = Ends.message(client, 8, 3);
      ByteBuf announced = Ends.message(client, 1 << 20, 4);
      List<OnceEnded> all = new ArrayList<>();
      pair.server().receive().subscribe(ByteBuf::release);
      CompletableFuture<ByteBuf> received = client.receive().next().toFuture();
      String loop =
          holdUp(
              client,
              () -> {
                // The first operations are posted, the others find no slot.
                all.add(OnceEnded.of(client.write(written, at.slice(0, 8))));
                all.add(OnceEnded.of(client.read(at, into)));
                all.add(OnceEnded.of(client.send(Mono.just(sent))));
                all.add(OnceEnded.of(client.send(Mono.just(announced))));
                all.add(OnceEnded.of(client.read(at)));
                all.add(OnceEnded.of(client.fetchAndAdd(at.slice(8, 8), 1)));
                all.add(OnceEnded.of(client.compareAndSwap(at.slice(16, 8), 0, 1)));
                all.add(OnceEnded.of(client.writeWithImmediate(notified, at.slice(24, 8), 1)));
                for (int i = 0; i < 8; i++) {
                  all.add(OnceEnded.of(client.read(at)));
                }
              });

      for (OnceEnded each : all) {
        failsFor(each.error, loop);
      }

      // The HCA may still use these buffers.
      assertThat(written.refCnt()).isEqualTo(1);
      assertThat(into.refCnt()).isEqualTo(2);
      letGo.countDown();
      await()
          .atMost(Ends.LIMIT)
          .until(
              () ->
                  written.refCnt() + notified.refCnt() + sent.refCnt() + announced.refCnt() == 0
                      && into.refCnt() == 1);
      // A receive has no deadline, and the connection keeps working.
      pair.server()
          .send(Mono.fromSupplier(() -> Ends.message(pair.server(), 8, 5)))
          .block(Ends.LIMIT);
      assertThat(received).succeedsWithin(Ends.LIMIT).satisfies(ByteBuf::release);
      client.send(Mono.fromSupplier(() -> Ends.message(client, 8, 6))).block(Ends.LIMIT);
      assertThat(all).allSatisfy(each -> assertThat(each.ends).hasValue(1));
      into.release();
      region.close();
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void failsACloseThatItHasTakenUp() {
    // The loop ends the close itself if it is not blocked within this time.
    Duration patience = Duration.ofMillis(1500);
    try (Ends ends = Ends.create(Ends.options(), quick(1).closeTimeout(patience))) {
      RdmaConnection client = ends.connect().client();
      RdmaConnection other = ends.connect().client();
      CompletableFuture<?> endless = client.send(Flux.never()).toFuture();
      OnceEnded close = OnceEnded.of(client.close());
      // The loop, which both connections share, runs this after the close.
      String loop = holdUp(other, () -> {});

      failsFor(close.error, loop);

      letGo.countDown();
      await().atMost(Ends.LIMIT).until(client::isDisposed);
      assertThat(endless).failsWithin(Ends.LIMIT);
      assertThat(close.ends).hasValue(1);
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void endsWhatWaitsThoughADisposeHasFailed() {
    // Longer than a dispose waits for the loop.
    Duration patience = Duration.ofSeconds(7);
    try (Ends ends =
        Ends.create(
            Ends.options(),
            quick(1).operationTimeout(patience).closeTimeout(Duration.ofMillis(1)))) {
      Ends.Pair pair = ends.connect();
      RdmaMemory.Region region =
          pair.server().memory().register(ByteBuffer.allocateDirect(64), Set.of(Right.READ));
      String loop = holdUp(pair.client());
      CompletableFuture<?> read = pair.client().read(region.token()).toFuture();

      assertThatThrownBy(() -> ends.clientSide().dispose())
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("held up by a subscriber");

      failsFor(read, loop);
      letGo.countDown();
      region.close();
    }
  }

  @Test
  void tellsNobodyTwiceWhomTheLoopTellsAtLast() {
    try (Ends ends = Ends.create(Ends.options(), quick(1))) {
      RdmaConnection client = ends.connect().client();
      holdUp(client);
      CompletableFuture<?> cancelled = client.send(Mono.never()).toFuture();
      CompletableFuture<?> patient = client.receive().next().toFuture();

      cancelled.cancel(true);
      failsFor(client.send(Mono.never()).toFuture(), "loop-0");
      letGo.countDown();

      // A later send succeeds: the send that timed out harms no other.
      client.send(Mono.fromSupplier(() -> Ends.message(client, 8, 1))).block(Ends.LIMIT);
      assertThat(patient).isNotDone();
    }
  }

  @Test
  void isNotChosenForAConnectionIfAnotherIsFree() {
    // A free loop that gets no CPU for this time counts as held up, too.
    try (Ends ends = Ends.create(Ends.options(), quick(2).stallWarning(Duration.ofSeconds(1)))) {
      RdmaConnection client = ends.connect().client();
      String loop = holdUp(client);
      failsFor(client.send(Mono.never()).toFuture(), loop);

      for (int i = 0; i < 4; i++) {
        assertThat(ends.connect().client().isDisposed()).isFalse();
      }
      letGo.countDown();
    }
  }

  @Test
  void acceptsNothingForAServerThatWasDisposedMeanwhile() {
    assumeTrue(Addresses.areEmulated(), "requests come in the order of the connects");
    // With a watchdog the next connection would be made on the other loop.
    RdmaOptions.Builder unwatched = Ends.options().loops(2).stallWarning(Duration.ZERO);
    try (Ends ends = Ends.create(unwatched, Ends.options().loops(1))) {
      Ends.Pair pair = ends.connect();
      holdUp(pair.server());
      ends.connect();
      CompletableFuture<RdmaConnection> late = ends.clientSide().connect(ends.address()).toFuture();
      // Requests come in order: once this one is served, the late one waits for the blocked loop.
      ends.connect();

      ends.server().dispose();
      letGo.countDown();

      assertThat(late)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(RdmaConnectException.class);
    }
  }

  /** Blocks the loop of a connection until {@code letGo}; returns the name of its thread. */
  private String holdUp(RdmaConnection connection) {
    return holdUp(connection, () -> {});
  }

  /** Runs {@code first} on the loop of a connection, and then blocks the loop. */
  private String holdUp(RdmaConnection connection, Runnable first) {
    CompletableFuture<String> held = new CompletableFuture<>();
    connection
        .send(Mono.fromSupplier(() -> Ends.message(connection, 8, 1)))
        .subscribe(
            null,
            null,
            () -> {
              first.run();
              held.complete(Thread.currentThread().getName());
              awaitLetGo();
            });
    assertThat(held).succeedsWithin(Ends.LIMIT);
    return held.join();
  }

  private void awaitLetGo() {
    try {
      assertThat(letGo.await(2 * Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Counts the terminal signals that it receives. */
  private static final class OnceEnded implements CoreSubscriber<Object> {
    private final CompletableFuture<Object> error = new CompletableFuture<>();
    private final AtomicInteger ends = new AtomicInteger();

    static OnceEnded of(Mono<?> operation) {
      OnceEnded subscriber = new OnceEnded();
      operation.subscribe(subscriber);
      return subscriber;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Object value) {
      ReferenceCountUtil.release(value);
    }

    @Override
    public void onError(Throwable why) {
      ends.incrementAndGet();
      error.completeExceptionally(why);
    }

    @Override
    public void onComplete() {
      ends.incrementAndGet();
      error.complete("completed");
    }
  }

  private static void failsFor(@Nullable CompletableFuture<?> waiting, String loop) {
    assertThat(waiting)
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(RdmaTimeoutException.class)
        .withMessageContainingAll(loop, "held up");
  }
}
