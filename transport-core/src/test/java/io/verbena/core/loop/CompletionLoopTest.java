// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.RdmaOptions;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CompletionLoopTest {
  private static final URI ADDRESS = URI.create("emulated://completion-loop");

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);

  @AfterEach
  void close() {
    device.close();
  }

  private CompletionLoop loop(RdmaOptions options) {
    return new CompletionLoop(CompletionLoopTest::daemon, device, options, null, HcaMeter.OFF);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "completion-loop-test");
    thread.setDaemon(true);
    return thread;
  }

  private static void end(CompletionLoop loop) throws InterruptedException {
    loop.stop();
    assertThat(loop.join(Duration.ofSeconds(20).toNanos())).isTrue();
  }

  @Test
  void roundsTimeoutsUpAndBoundsTheLongest() throws InterruptedException {
    CompletionLoop loop = loop(RdmaOptions.builder().connectTimeout(Duration.ofMillis(16)).build());
    loop.start();
    long tick = Duration.ofMillis(1).toNanos();

    assertThat(loop.ticks(1)).isEqualTo(2);
    assertThat(loop.ticks(tick)).isEqualTo(2);
    assertThat(loop.ticks(tick + 1)).isEqualTo(3);
    assertThat(loop.ticks(Long.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE / 2 + 1);
    assertThat(loop.ticks(Long.MAX_VALUE - tick)).isEqualTo(Integer.MAX_VALUE / 2 + 1);
    end(loop);
  }

  @Test
  void outlivesATickListenerThatThrows() throws InterruptedException {
    CompletionLoop loop = loop(RdmaOptions.builder().connectTimeout(Duration.ofMillis(16)).build());
    CountDownLatch ticks = new CountDownLatch(3);
    CompletableFuture<Throwable> reported = new CompletableFuture<>();
    requireNonNull(loop.thread())
        .setUncaughtExceptionHandler((thread, thrown) -> reported.complete(thrown));
    loop.start();

    loop.execute(
        () -> {
          loop.addTickListener(new Ticks(ticks));
          loop.addTickListener(new Throws());
        });

    assertThat(ticks.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(loop.brokenBy()).isNull();
    assertThat(reported).isCompletedWithValueMatching(NoSuchMethodError.class::isInstance);
    end(loop);
  }

  private record Ticks(CountDownLatch left) implements CompletionLoop.TickListener {
    @Override
    public boolean tick() {
      left.countDown();
      return left.getCount() > 0;
    }

    @Override
    public void shutDown(@Nullable Throwable broken) {
      // Nothing to release.
    }
  }

  private record Throws() implements CompletionLoop.TickListener {
    @Override
    public boolean tick() {
      throw new NoSuchMethodError("thrown by a test");
    }

    @Override
    public void shutDown(@Nullable Throwable broken) {
      // Nothing to release.
    }
  }

  @Test
  void runsTasksAfterItsEndWhileThoseOfTwoLoopsCallEachOther() throws InterruptedException {
    CompletionLoop one = loop(RdmaOptions.defaults());
    CompletionLoop other = loop(RdmaOptions.defaults());
    one.start();
    other.start();
    end(one);
    end(other);
    CountDownLatch inside = new CountDownLatch(2);
    CountDownLatch done = new CountDownLatch(2);

    daemon(() -> one.execute(() -> callWhenBothAreInside(inside, other, done))).start();
    daemon(() -> other.execute(() -> callWhenBothAreInside(inside, one, done))).start();

    assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
  }

  private static void callWhenBothAreInside(
      CountDownLatch inside, CompletionLoop other, CountDownLatch done) {
    inside.countDown();
    try {
      assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    other.execute(done::countDown);
  }
}
