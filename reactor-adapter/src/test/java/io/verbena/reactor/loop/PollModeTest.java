// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class PollModeTest {
  /** The time that thousands of round trips may take on a busy machine. */
  private static final Duration MANY_ROUNDS = Ends.LIMIT.multipliedBy(5);

  @ParameterizedTest
  @EnumSource(PollMode.class)
  void movesMessagesAndReads(PollMode mode) {
    try (Ends ends = Ends.create(Ends.options().pollMode(mode))) {
      Ends.Pair pair = ends.connect();
      pair.server().send(pair.server().receive()).subscribe();
      RdmaMemory.Region region =
          pair.server().memory().register(ByteBuffer.allocateDirect(8), Set.of(Right.ATOMIC));
      CompletableFuture<Long> echoes =
          pair.client().receive().doOnNext(ByteBuf::release).take(2000).count().toFuture();

      Mono.when(
              pair.client()
                  .send(Flux.range(0, 2000).map(n -> Ends.message(pair.client(), 10 + n, n))),
              Flux.range(0, 1000)
                  .flatMap(n -> pair.client().fetchAndAdd(region.token(), 1), 32)
                  .then())
          .block(Ends.LIMIT);

      assertThat(echoes).succeedsWithin(Ends.LIMIT).isEqualTo(2000L);
      region.close();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = PollMode.class,
      names = {"ADAPTIVE", "EVENT"})
  void idleConnectionsCostNoCpu(PollMode mode) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (Ends ends = Ends.create(Ends.options().pollMode(mode))) {
      List<Ends.Pair> pairs = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        pairs.add(ends.connect());
      }
      pairs.get(0).server().receive().subscribe(ByteBuf::release);
      // The threads of callbacks, as concurrent tests have loops with the same thread names.
      Set<Long> loops = Set.of(loopOf(pairs.get(0).client()), loopOf(pairs.get(0).server()));
      long[] before = {cpu(threads, loops)};

      // One idle interval is enough: the loops may still be going to sleep in the first.
      await()
          .pollInterval(Duration.ofMillis(300))
          .atMost(Ends.LIMIT)
          .until(
              () -> {
                long now = cpu(threads, loops);
                long used = now - before[0];
                before[0] = now;
                return used < Addresses.within(Duration.ofMillis(1)).toNanos();
              });
    }
  }

  private static long loopOf(RdmaConnection connection) {
    return connection
        .send(Mono.fromSupplier(() -> Ends.message(connection, 10, 1)))
        .then(Mono.fromSupplier(() -> Thread.currentThread().getId()))
        .block(Ends.LIMIT);
  }

  private static long cpu(ThreadMXBean threads, Set<Long> ids) {
    long sum = 0;
    for (long id : ids) {
      sum += threads.getThreadCpuTime(id);
    }
    return sum;
  }

  @ParameterizedTest
  @EnumSource(PollMode.class)
  void signalsOfAConnectionComeFromOneLoop(PollMode mode) {
    try (Ends ends = Ends.create(Ends.options().pollMode(mode).loops(3))) {
      Set<String> all = new HashSet<>();
      for (int i = 0; i < 6; i++) {
        Ends.Pair pair = ends.connect();
        Set<String> loops = ConcurrentHashMap.newKeySet();
        Flux<String> here = Flux.defer(() -> Flux.just(Thread.currentThread().getName()));
        CompletableFuture<Void> received =
            pair.client()
                .receive()
                .doOnNext(
                    message -> {
                      message.release();
                      loops.add(Thread.currentThread().getName());
                    })
                .take(10)
                .then()
                .toFuture();
        pair.server()
            .send(Flux.range(0, 10).map(n -> Ends.message(pair.server(), 10_000, n)))
            .block(Ends.LIMIT);
        assertThat(received).succeedsWithin(Ends.LIMIT);
        pair.client().send(Flux.empty()).thenMany(here).doOnNext(loops::add).blockLast(Ends.LIMIT);

        assertThat(loops).hasSize(1);
        all.addAll(loops);
      }
      assertThat(all).hasSize(3);
    }
  }

  @Test
  void takesOperationsFromManyThreads() throws Exception {
    try (Ends ends = Ends.create(Ends.options().pollMode(PollMode.ADAPTIVE))) {
      Ends.Pair pair = ends.connect();
      RdmaConnection client = pair.client();
      RdmaMemory.Region region =
          pair.server().memory().register(ByteBuffer.allocateDirect(8), Set.of(Right.ATOMIC));
      int threads = 4;
      int each = Addresses.rounds(3000);
      CompletableFuture<Long> received =
          pair.server()
              .receive()
              .doOnNext(ByteBuf::release)
              .take((long) threads * each)
              .count()
              .toFuture();
      List<Thread> running = new ArrayList<>();
      List<Throwable> failures = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        Thread thread =
            new Thread(
                () -> {
                  for (int i = 0; i < each; i++) {
                    int number = i;
                    client.fetchAndAdd(region.token(), 1).block(Ends.LIMIT);
                    client
                        .send(Mono.fromSupplier(() -> Ends.message(client, number % 100, number)))
                        .block(Ends.LIMIT);
                  }
                });
        thread.setUncaughtExceptionHandler((of, e) -> failures.add(e));
        running.add(thread);
        thread.start();
      }
      for (Thread thread : running) {
        thread.join(MANY_ROUNDS.toMillis());
        assertThat(thread.isAlive()).isFalse();
      }

      assertThat(failures).isEmpty();
      assertThat(received).succeedsWithin(Ends.LIMIT);
      assertThat(client.fetchAndAdd(region.token(), 0).block(Ends.LIMIT))
          .isEqualTo((long) threads * each);
      region.close();
    }
  }
}
