// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.util.concurrent.FastThreadLocalThread;
import io.verbena.RdmaConnection;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.HeldUp;
import io.verbena.meters.HcaMeter;
import io.verbena.reactor.testing.Ends;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;

/** Tests user code that blocks a loop, and what a new transport's threads inherit. */
class LoopThreadTest {
  private static final InheritableThreadLocal<String> INHERITABLE = new InheritableThreadLocal<>();

  private final CountDownLatch letGo = new CountDownLatch(1);

  @AfterEach
  void letGo() {
    letGo.countDown();
  }

  @Test
  void refusesToBlockTheLoop() {
    try (Ends ends = Ends.create()) {
      RdmaConnection client = ends.connect().client();

      assertThatThrownBy(() -> inLoop(client, () -> Mono.never().block(Duration.ofMillis(1))))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("not supported");
      assertThat(inLoop(client, Thread::currentThread))
          .isInstanceOf(NonBlocking.class)
          .isInstanceOf(FastThreadLocalThread.class);
    }
  }

  @Test
  void disposesAnotherTransportWithoutWaitingForIt() throws InterruptedException {
    Ends one = Ends.create(Ends.options().closeTimeout(Duration.ofMinutes(2)));
    Ends other = Ends.create(Ends.options().closeTimeout(Duration.ofMinutes(2)));
    CountDownLatch inside = new CountDownLatch(2);
    CountDownLatch done = new CountDownLatch(2);

    disposeFromWithin(one, other, inside, done);
    disposeFromWithin(other, one, inside, done);

    assertThat(done.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    one.close();
    other.close();
  }

  private static void disposeFromWithin(
      Ends from, Ends what, CountDownLatch inside, CountDownLatch done) {
    Runnable dispose =
        () -> {
          inside.countDown();
          awaitUninterruptibly(inside);
          what.clientSide().dispose();
          done.countDown();
        };
    send(from.connect().client()).then(Mono.fromRunnable(dispose)).onErrorComplete().subscribe();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertThat(latch.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void inheritsNeitherThreadLocalsNorAContextClassLoader() throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    INHERITABLE.set("of the test");
    try (URLClassLoader other = new URLClassLoader(new URL[0], before)) {
      thread.setContextClassLoader(other);
      try (Ends ends = Ends.create()) {
        RdmaConnection client = ends.connect().client();

        assertThat(inLoop(client, () -> String.valueOf(INHERITABLE.get()))).isEqualTo("null");
        assertThat(inLoop(client, () -> Thread.currentThread().getContextClassLoader()))
            .isSameAs(ReactorTransport.class.getClassLoader());
      }
    } finally {
      thread.setContextClassLoader(before);
      INHERITABLE.remove();
    }
  }

  @Test
  void reportsALoopThatIsHeldUpAndNotOneThatSleeps() throws Exception {
    URI address = URI.create("emulated://held-up");
    LinkedBlockingQueue<String> reports = new LinkedBlockingQueue<>();
    Device device = VerbsProviders.find(address).open(address);
    CompletionLoop sleeps = loop("sleeps", device);
    CompletionLoop heldUp = loop("is-held-up", device);
    CountDownLatch entered = new CountDownLatch(1);
    heldUp.execute(() -> holdUp(entered));
    assertThat(entered.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

    await().atMost(Ends.LIMIT).until(sleeps::isSleeping);
    LoopWatchdog watchdog =
        new LoopWatchdog(
            "watchdog-test",
            Duration.ofMillis(300).toNanos(),
            () -> List.of(sleeps, heldUp),
            new Reports(reports));
    String report = reports.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    watchdog.close();

    assertThat(report)
        .contains("is-held-up", " ms", "RdmaOptions.stallWarning", "LoopThreadTest.holdUp");
    assertThat(reports).isEmpty();
    letGo();
    for (CompletionLoop loop : List.of(sleeps, heldUp)) {
      loop.stop();
      assertThat(loop.join(Ends.LIMIT.toNanos())).isTrue();
    }
    device.close();
  }

  @Test
  void restsWhileALoopSleepsAndReportsThatItIsHeldUpBehindThat() throws Exception {
    URI address = URI.create("emulated://held-up-behind-a-rest");
    LinkedBlockingQueue<Long> reports = new LinkedBlockingQueue<>();
    Device device = VerbsProviders.find(address).open(address);
    CompletionLoop loop = loop("sleeps", device);
    CountDownLatch entered = new CountDownLatch(1);
    long limit = Duration.ofMillis(20).toNanos();
    // The loop's thread may take longer than the limit to start.
    await().atMost(Ends.LIMIT).until(loop::isSleeping);
    LoopWatchdog watchdog =
        new LoopWatchdog("watchdog-test", limit, () -> List.of(loop), new Durations(reports));
    await().atMost(Ends.LIMIT).until(watchdog::isResting);
    long before = System.nanoTime();

    loop.execute(() -> holdUp(entered));
    Long heldUp = reports.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);

    assertThat(heldUp).isBetween(limit, System.nanoTime() - before);
    assertThat(watchdog.isResting()).isFalse();
    letGo();
    await().atMost(Ends.LIMIT).until(watchdog::isResting);
    watchdog.close();
    loop.stop();
    assertThat(loop.join(Ends.LIMIT.toNanos())).isTrue();
    device.close();
  }

  @Test
  void reportsAgainAndThenForHowLongInAll() throws Exception {
    URI address = URI.create("emulated://held-up-long");
    LinkedBlockingQueue<String> reports = new LinkedBlockingQueue<>();
    Device device = VerbsProviders.find(address).open(address);
    CompletionLoop heldUp = heldUpLoop(device);
    LoopWatchdog watchdog =
        new LoopWatchdog(
            "watchdog-test",
            Duration.ofMillis(20).toNanos(),
            Duration.ofMillis(60).toNanos(),
            System::nanoTime,
            () -> List.of(heldUp),
            new Reports(reports));

    assertThat(next(reports)).startsWith("first").contains("is-held-up", "LoopThreadTest.holdUp");
    assertThat(next(reports)).startsWith("again").contains("is-held-up", "LoopThreadTest.holdUp");
    assertThat(next(reports)).startsWith("again");
    assertThat(watchdog.isHeldUp(heldUp)).isTrue();
    letGo();

    await()
        .atMost(Ends.LIMIT)
        .untilAsserted(() -> assertThat(next(reports)).contains(" goes on", " ms in all"));
    await().atMost(Ends.LIMIT).until(() -> !watchdog.isHeldUp(heldUp));
    watchdog.close();
    heldUp.stop();
    assertThat(heldUp.join(Ends.LIMIT.toNanos())).isTrue();
    device.close();
  }

  @Test
  void countsNoTimeInWhichTheWatchdogDidNotRunItself() throws Exception {
    URI address = URI.create("emulated://held-up-in-a-pause");
    LinkedBlockingQueue<String> reports = new LinkedBlockingQueue<>();
    Device device = VerbsProviders.find(address).open(address);
    CompletionLoop heldUp = heldUpLoop(device);
    long limit = Duration.ofMillis(20).toNanos();
    AtomicLong clock = new AtomicLong();
    AtomicLong step = new AtomicLong();
    AtomicInteger looks = new AtomicInteger();
    LoopWatchdog watchdog =
        new LoopWatchdog(
            "watchdog-test",
            limit,
            Duration.ofMinutes(1).toNanos(),
            clock::get,
            () -> {
              looks.incrementAndGet();
              clock.addAndGet(step.get());
              return List.of(heldUp);
            },
            new Reports(reports));
    awaitLooks(looks, 2);

    clock.addAndGet(10 * limit);
    awaitLooks(looks, 3);
    assertThat(reports).isEmpty();

    // Half the limit between two looks, which is the interval that the watchdog aims for.
    step.set(limit / 2);
    assertThat(next(reports)).startsWith("first").contains("is-held-up");
    watchdog.close();
    letGo();
    heldUp.stop();
    assertThat(heldUp.join(Ends.LIMIT.toNanos())).isTrue();
    device.close();
  }

  private CompletionLoop heldUpLoop(Device device) throws InterruptedException {
    CompletionLoop loop = loop("is-held-up", device);
    CountDownLatch entered = new CountDownLatch(1);
    loop.execute(() -> holdUp(entered));
    assertThat(entered.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return loop;
  }

  private static void awaitLooks(AtomicInteger looks, int more) {
    int before = looks.get();
    await().atMost(Ends.LIMIT).until(() -> looks.get() >= before + more);
  }

  private static String next(LinkedBlockingQueue<String> reports) throws InterruptedException {
    return String.valueOf(reports.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS));
  }

  /** Keeps what a watchdog reports. */
  private record Reports(LinkedBlockingQueue<String> all) implements LoopWatchdog.Report {
    @Override
    public void heldUp(HeldUp loop, boolean again, String message) {
      all.add((again ? "again " : "first ") + message);
    }

    @Override
    public void goesOn(HeldUp loop, String message) {
      all.add(message);
    }

    @Override
    public void signalLate(Runnable late) {
      late.run();
    }
  }

  /** Keeps how long loops were held up, in nanoseconds. */
  private record Durations(LinkedBlockingQueue<Long> all) implements LoopWatchdog.Report {
    @Override
    public void heldUp(HeldUp loop, boolean again, String message) {
      all.add(loop.nanos());
    }

    @Override
    public void goesOn(HeldUp loop, String message) {
      assertThat(message).contains(" goes on");
    }

    @Override
    public void signalLate(Runnable late) {
      late.run();
    }
  }

  private static CompletionLoop loop(String name, Device device) {
    CompletionLoop loop =
        new CompletionLoop(
            work -> LoopThread.create(work, name),
            device,
            Ends.options().build(),
            null,
            HcaMeter.OFF);
    loop.start();
    return loop;
  }

  private void holdUp(CountDownLatch entered) {
    entered.countDown();
    try {
      assertThat(letGo.await(2 * Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static <T> T inLoop(RdmaConnection connection, Supplier<T> call) {
    return send(connection).then(Mono.fromSupplier(call)).block(Ends.LIMIT);
  }

  private static Mono<Void> send(RdmaConnection connection) {
    return connection.send(Mono.fromSupplier(() -> Ends.message(connection, 8, 1)));
  }
}
