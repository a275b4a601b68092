// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.RdmaConnectException;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;

/** Tests limits on name lookups: their number, their threads and their subscribers. */
class NameResolverTest {
  private final NameResolver<URI> resolver = new NameResolver<>(Duration.ofMinutes(5));
  private final CountDownLatch held = new CountDownLatch(1);
  private final AtomicInteger lookups = new AtomicInteger();

  @AfterEach
  void dispose() {
    held.countDown();
    resolver.dispose();
  }

  private static URI host(int number) {
    return URI.create("named://host-" + number);
  }

  private URI wait(URI found) {
    lookups.incrementAndGet();
    pause(held);
    return found;
  }

  private static void pause(CountDownLatch latch) {
    try {
      assertThat(latch.await(2 * Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private CompletableFuture<URI> resolve(int number) {
    return resolver.resolve("connect", host(number), () -> wait(host(number))).toFuture();
  }

  @Test
  void looksANameUpOnceForAllWhoAskMeanwhile() {
    List<CompletableFuture<URI>> all = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      all.add(resolve(1));
    }
    all.get(0).cancel(true);
    held.countDown();

    assertThat(all.subList(1, all.size()))
        .allSatisfy(each -> assertThat(each).succeedsWithin(Ends.LIMIT).isEqualTo(host(1)));
    assertThat(lookups).hasValue(1);
    assertThat(resolve(1)).succeedsWithin(Ends.LIMIT);
    assertThat(lookups).as("the JVM caches names").hasValue(2);
  }

  @Test
  void refusesANameBehindTooMany() {
    List<CompletableFuture<URI>> all = new ArrayList<>();
    for (int i = 0; i < Lookups.THREADS; i++) {
      all.add(resolve(i));
    }
    await().atMost(Ends.LIMIT).until(() -> lookups.get() == Lookups.THREADS);
    for (int i = 0; i < Lookups.MOST_WAITING; i++) {
      all.add(resolve(Lookups.THREADS + i));
    }

    assertThat(resolve(1_000_000))
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(RdmaConnectException.class)
        .withMessageContaining("host names that wait to be resolved: 1024 (expected: < 1024)");
    // A lookup of a name that already waits takes no place of its own.
    all.add(resolve(Lookups.THREADS));
    held.countDown();
    assertThat(all).allSatisfy(each -> assertThat(each).succeedsWithin(Ends.LIMIT));
    assertThat(resolve(1_000_000)).succeedsWithin(Ends.LIMIT);
  }

  @ParameterizedTest
  @EnumSource
  void looksANameUpAgainForWhichThereWasNoThread(Fault.Kind kind) {
    AtomicBoolean first = new AtomicBoolean(true);
    NameResolver<URI> shortOfThreads =
        new NameResolver<>(
            Duration.ofMinutes(5),
            new Lookups<>(
                work -> {
                  if (first.getAndSet(false)) {
                    kind.raise();
                  }
                  return new Thread(work);
                }));
    Mono<URI> lookup = shortOfThreads.resolve("connect", host(1), () -> host(1));
    try {
      assertThat(lookup.toFuture())
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .havingCause()
          .isInstanceOf(RdmaConnectException.class)
          .withMessageContaining(Fault.MESSAGE);

      assertThat(lookup.toFuture()).succeedsWithin(Ends.LIMIT);
    } finally {
      shortOfThreads.dispose();
    }
  }

  @Test
  void goesOnWhileSubscribersBlock() {
    CountDownLatch letGo = new CountDownLatch(1);
    AtomicInteger blocked = new AtomicInteger();
    try {
      for (int i = 0; i <= Lookups.THREADS; i++) {
        resolver
            .resolve(
                "connect",
                host(i),
                () -> {
                  throw new VerbsException(VerbsError.INVALID, "unknown host");
                })
            .subscribe(
                found -> {},
                error -> {
                  assertThat(Thread.currentThread()).isNotInstanceOf(NonBlocking.class);
                  blocked.incrementAndGet();
                  pause(letGo);
                });
      }
      await().atMost(Ends.LIMIT).until(() -> blocked.get() == Lookups.THREADS + 1);

      held.countDown();
      assertThat(resolve(100)).succeedsWithin(Ends.LIMIT);
    } finally {
      letGo.countDown();
    }
  }
}
