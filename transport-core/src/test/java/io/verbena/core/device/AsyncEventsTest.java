// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.device;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
class AsyncEventsTest {
  private static final long LIMIT = TimeUnit.SECONDS.toNanos(20);

  private final QueuePair pair = fake(QueuePair.class, () -> null);
  private final BlockingQueue<AsyncEvent> raised = new LinkedBlockingQueue<>();

  /** What a device answers when it is asked for its next event. */
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
