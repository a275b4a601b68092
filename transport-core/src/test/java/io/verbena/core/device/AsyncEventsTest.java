// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.core.loop.DutyCycle;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Device;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.Thread.UncaughtExceptionHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("once")
class AsyncEventsTest {
  private static final long LIMIT = TimeUnit.SECONDS.toNanos(20);

  private final QueuePair pair = fake(QueuePair.class, () -> null);
  private final BlockingQueue<AsyncEvent> raised = new LinkedBlockingQueue<>();

  /** Returns or throws a device's answer to the request for its next event. */
  private interface Answer {
    Object next() throws Exception;
  }

  private static <T> T fake(Class<T> type, Answer answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "equals" -> proxy == arguments[0];
                  default -> answer.next();
                }));
  }

  @Test
  void tellOfFailuresOfQueuePairsAlone() throws InterruptedException {
    List<Integer> told = new ArrayList<>();
    Device device = fake(Device.class, raised::take);
    AsyncEvents events = new AsyncEvents("test-events", device, null);
    events.listenForFailure(
        pair,
        () -> {
          told.add(1);
          events.close();
        });
    raised.add(new AsyncEvent(AsyncEvent.Type.COMM_EST, pair));
    raised.add(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, null));
    raised.add(new AsyncEvent(AsyncEvent.Type.QP_FATAL, pair));

    events.start();
    events.join(LIMIT);

    assertThat(told).hasSize(1);
    assertThat(raised).isEmpty();
  }

  @Test
  void goOnAfterAnErrorOfADeviceThatIsNotGone() throws InterruptedException {
    List<VerbsError> errors =
        new ArrayList<>(List.of(VerbsError.NO_MEMORY, VerbsError.IO, VerbsError.INVALID));
    Device device =
        fake(
            Device.class,
            () -> {
              if (errors.isEmpty()) {
                return raised.take();
              }
              throw new VerbsException(errors.remove(0), "get async event");
            });
    List<Integer> told = new ArrayList<>();
    AsyncEvents events = new AsyncEvents("test-events", device, null);
    events.listenForFailure(
        pair,
        () -> {
          told.add(1);
          events.close();
        });
    raised.add(new AsyncEvent(AsyncEvent.Type.QP_FATAL, pair));

    events.start();
    events.join(LIMIT);

    assertThat(errors).isEmpty();
    assertThat(told).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({"IO, 10", "CLOSED, 1", "NO_DEVICE, 1"})
  void askADeviceThatIsGoneSoOftenAndThenEnd(VerbsError error, int most)
      throws InterruptedException {
    AtomicInteger asked = new AtomicInteger();
    AsyncEvents events = new AsyncEvents("test-events", failing(error, asked), null);

    events.start();
    events.join(LIMIT);

    assertThat(asked).hasValue(most);
  }

  @Test
  void countErrorsAnewAfterACallThatIsGood() throws InterruptedException {
    int most = 9;
    AtomicInteger asked = new AtomicInteger();
    Device device =
        fake(
            Device.class,
            () -> {
              int call = asked.getAndIncrement();
              if (call == most) {
                return new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, null);
              }
              if (call > 2 * most) {
                return raised.take();
              }
              throw new VerbsException(VerbsError.IO, "get async event");
            });
    List<Integer> told = new ArrayList<>();
    AsyncEvents events = new AsyncEvents("test-events", device, null, 1, 1);
    events.listenForFailure(
        pair,
        () -> {
          told.add(1);
          events.close();
        });
    raised.add(new AsyncEvent(AsyncEvent.Type.QP_FATAL, pair));

    events.start();
    events.join(LIMIT);

    assertThat(told).hasSize(1);
  }

  private static Device failing(VerbsError error, AtomicInteger asked) {
    return fake(
        Device.class,
        () -> {
          asked.incrementAndGet();
          throw new VerbsException(error, "get async event");
        });
  }

  /** An invoker whose time the test sets. */
  private static final class Clockwork implements DutyCycleInvoker {
    private final List<DutyCycle> cycles = new ArrayList<>();
    private long nanos;

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void add(DutyCycle dutyCycle) {
      cycles.add(dutyCycle);
    }

    @Override
    public boolean awaitFor(BooleanSupplier done, long nanos) {
      throw new UnsupportedOperationException();
    }

    void passMillis(long millis) {
      nanos += TimeUnit.MILLISECONDS.toNanos(millis);
      for (int i = 0; i < 100; i++) {
        cycles.forEach(DutyCycle::doWork);
      }
    }
  }

  @Test
  void pauseLongerAfterEachError() {
    AtomicInteger asked = new AtomicInteger();
    Clockwork clock = new Clockwork();
    new AsyncEvents("test-events", failing(VerbsError.NO_MEMORY, asked), clock).start();

    List<Integer> counts = new ArrayList<>();
    for (int millis : new int[] {0, 1, 1, 1, 4, 7, 1}) {
      clock.passMillis(millis);
      counts.add(asked.get());
    }

    assertThat(counts).containsExactly(1, 2, 2, 3, 4, 4, 5);
    IntStream.range(0, 10).forEach(i -> clock.passMillis(10_000));
    int often = asked.get();
    clock.passMillis(999);
    assertThat(asked).hasValue(often);
    clock.passMillis(1);
    assertThat(asked).hasValue(often + 1);
  }

  @Test
  void endWhileTheyPause() throws InterruptedException {
    AtomicInteger asked = new AtomicInteger();
    String name = "test-events-that-pause";
    long pause = TimeUnit.HOURS.toNanos(1);
    AsyncEvents events =
        new AsyncEvents(name, failing(VerbsError.NO_MEMORY, asked), null, pause, pause);
    events.start();
    Awaitility.await().until(() -> asked.get() > 0);

    events.close();
    events.join(LIMIT);

    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain(name);
  }

  @Test
  void endQuietlyWithADeviceThatHasFailed() throws InterruptedException {
    Device device =
        fake(
            Device.class,
            () -> {
              throw new VerbsException(VerbsError.IO, "the device is gone");
            });
    AtomicReference<Throwable> uncaught = new AtomicReference<>();
    UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> uncaught.set(thrown));
    try {
      AsyncEvents events = new AsyncEvents("test-events", device, null);
      events.start();
      events.join(LIMIT);
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }

    assertThat(uncaught.get()).isNull();
  }
}
