// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests events that cannot be handled, and what happens to listeners after the manager has failed.
 */
class ConnectionEventDispatcherTest {
  private static final URI ADDRESS = URI.create("failing://device");
  private static final Duration LIMIT = Duration.ofSeconds(10);

  @ParameterizedTest
  @EnumSource(VerbsError.class)
  void tellsListenersThatNoEventFollows(VerbsError error) throws Exception {
    FailingManager manager = new FailingManager(error);
    ConnectionEventDispatcher dispatcher =
        new ConnectionEventDispatcher("failing-cm", deviceOf(manager), () -> Long.MAX_VALUE, null);
    CompletableFuture<VerbsException> told = new CompletableFuture<>();
    ConnectionListener listener = dispatcher.listen(ADDRESS, 1, new Target(told));

    dispatcher.start();
    manager.failure.countDown();

    assertThat(told).succeedsWithin(LIMIT).isSameAs(manager.thrown);
    assertThat(dispatcher.hasFailed()).isTrue();
    dispatcher.close(listener);
    dispatcher.close(LIMIT.toNanos());
  }

  @Test
  void refusesToListenWhereNoEventFollows() throws Exception {
    FailingManager manager = new FailingManager(VerbsError.IO);
    ConnectionEventDispatcher dispatcher =
        new ConnectionEventDispatcher("failing-cm", deviceOf(manager), () -> Long.MAX_VALUE, null);
    CompletableFuture<VerbsException> told = new CompletableFuture<>();
    dispatcher.listen(ADDRESS, 1, new Target(told));
    dispatcher.start();
    manager.failure.countDown();
    assertThat(told).succeedsWithin(LIMIT);

    assertThatThrownBy(() -> dispatcher.listen(ADDRESS, 1, new Target(new CompletableFuture<>())))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("the device has failed")
        .hasCause(manager.thrown);
    dispatcher.close(LIMIT.toNanos());
  }

  @Test
  void tellsEachListenerWhateverAnotherOneThrows() throws Exception {
    FailingManager manager = new FailingManager(VerbsError.IO);
    ConnectionEventDispatcher dispatcher =
        new ConnectionEventDispatcher("failing-cm", deviceOf(manager), () -> Long.MAX_VALUE, null);
    CompletableFuture<VerbsException> one = new CompletableFuture<>();
    CompletableFuture<VerbsException> other = new CompletableFuture<>();
    dispatcher.listen(ADDRESS, 1, new Throwing(one));
    dispatcher.listen(ADDRESS, 1, new Throwing(other));

    dispatcher.start();
    manager.failure.countDown();

    assertThat(one).succeedsWithin(LIMIT);
    assertThat(other).succeedsWithin(LIMIT);
    dispatcher.close(LIMIT.toNanos());
  }

  @ParameterizedTest
  @MethodSource("ofClosing")
  void goesOnWhereARequestOfNobodyCannotBeClosed(RuntimeException thrown) throws Exception {
    ConnectionIdentifier known = identifier(() -> {});
    AtomicInteger closed = new AtomicInteger();
    ConnectionIdentifier stray =
        identifier(
            () -> {
              if (closed.incrementAndGet() == 1) {
                throw thrown;
              }
            });
    FailingManager manager =
        new FailingManager(
            VerbsError.IO,
            event(ConnectionEvent.Type.CONNECT_REQUEST, stray),
            event(ConnectionEvent.Type.DISCONNECTED, known));
    ConnectionEventDispatcher dispatcher =
        new ConnectionEventDispatcher("failing-cm", deviceOf(manager), () -> Long.MAX_VALUE, null);
    CompletableFuture<ConnectionEvent> came = new CompletableFuture<>();
    dispatcher.register(known, came::complete);

    dispatcher.start();

    assertThat(came).succeedsWithin(LIMIT);
    assertThat(dispatcher.hasFailed()).isFalse();
    manager.failure.countDown();
    dispatcher.close(LIMIT.toNanos());
    assertThat(closed).as("how often it was tried").hasValue(2);
  }

  @Test
  void closesBehindARequestThatItsThreadIsClosing() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch busy = new CountDownLatch(1);
    AtomicBoolean closed = new AtomicBoolean();
    ConnectionIdentifier stray =
        identifier(
            () -> {
              begun.countDown();
              awaitUninterruptibly(busy);
              closed.set(true);
            });
    FailingManager manager =
        new FailingManager(VerbsError.IO, event(ConnectionEvent.Type.CONNECT_REQUEST, stray));
    manager.close =
        () -> {
          if (!closed.get()) {
            busy.countDown();
            throw new VerbsException(VerbsError.BUSY, "close connection manager: 1 identifier");
          }
        };
    ConnectionEventDispatcher dispatcher =
        new ConnectionEventDispatcher("closing-cm", deviceOf(manager), () -> Long.MAX_VALUE, null);
    dispatcher.start();
    assertThat(begun.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();

    dispatcher.close(LIMIT.toNanos());

    assertThat(closed).isTrue();
  }

  @Test
  void callsTheUpkeepAsOftenAsThatAsksAndWhateverItThrows() throws Exception {
    ConnectionEvent stray = event(ConnectionEvent.Type.DISCONNECTED, identifier(() -> {}));
    FailingManager manager = new FailingManager(VerbsError.IO, stray, stray, stray);
    List<Long> waits = new CopyOnWriteArrayList<>();
    manager.waiting = waits::add;
    AtomicInteger calls = new AtomicInteger();
    ConnectionEventDispatcher dispatcher =
        new ConnectionEventDispatcher(
            "failing-cm",
            deviceOf(manager),
            () ->
                switch (calls.incrementAndGet()) {
                  case 1 -> 17;
                  case 2 -> throw new IllegalStateException("by a test");
                  case 3 -> throw new AssertionError("by a test");
                  default -> Long.MAX_VALUE;
                },
            null);

    dispatcher.start();

    Awaitility.await().dontCatchUncaughtExceptions().atMost(LIMIT).until(() -> waits.size() > 3);
    long longest = TimeUnit.MINUTES.toNanos(1);
    assertThat(waits).startsWith(17L, longest, longest, longest);
    manager.failure.countDown();
    dispatcher.close(LIMIT.toNanos());
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    // Waits longer than an event may take from the manager to the thread.
    Awaitility.await()
        .during(Duration.ofMillis(1200))
        .atMost(LIMIT)
        .until(() -> latch.getCount() == 0);
  }

  static Stream<RuntimeException> ofClosing() {
    return Stream.of(
        new VerbsException(VerbsError.NO_MEMORY, "reject: by a test"),
        new IllegalStateException("by a test"));
  }

  private static ConnectionEvent event(ConnectionEvent.Type type, ConnectionIdentifier of) {
    return new ConnectionEvent(type, of, null, 0, ByteBuffer.allocate(0), 0, 0);
  }

  private static ConnectionIdentifier identifier(Runnable close) {
    return (ConnectionIdentifier)
        Proxy.newProxyInstance(
            ConnectionIdentifier.class.getClassLoader(),
            new Class<?>[] {ConnectionIdentifier.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("close");
              close.run();
              return null;
            });
  }

  private static Device deviceOf(ConnectionManager manager) {
    return (Device)
        Proxy.newProxyInstance(
            Device.class.getClassLoader(),
            new Class<?>[] {Device.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("createConnectionManager");
              return manager;
            });
  }

  private record Target(CompletableFuture<VerbsException> told) implements EventTarget {
    @Override
    public void event(ConnectionEvent event) {
      told.completeExceptionally(new AssertionError(event));
    }

    @Override
    public void deviceFailed(VerbsException why) {
      told.complete(why);
    }
  }

  private record Throwing(CompletableFuture<VerbsException> told) implements EventTarget {
    @Override
    public void event(ConnectionEvent event) {
      throw new AssertionError(event);
    }

    @Override
    public void deviceFailed(VerbsException why) {
      told.complete(why);
      throw new IllegalStateException("by a test");
    }
  }

  /** Returns some events, and then fails in {@code await} once the test triggers the failure. */
  private static final class FailingManager implements ConnectionManager {
    private final CountDownLatch failure = new CountDownLatch(1);
    private final Iterator<ConnectionEvent> events;
    private final VerbsException thrown;
    private Runnable close = () -> {};
    private LongConsumer waiting = nanos -> {};

    FailingManager(VerbsError error, ConnectionEvent... events) {
      thrown = new VerbsException(error, "get connection event");
      this.events = List.of(events).iterator();
    }

    @Override
    public @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException {
      waiting.accept(timeoutNanos);
      if (events.hasNext()) {
        return events.next();
      }
      failure.await();
      throw thrown;
    }

    @Override
    public ConnectionListener listen(PortSpace space, URI address, int backlog) {
      return new ConnectionListener() {
        @Override
        public URI address() {
          return address;
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Device device() {
      return deviceOf(this);
    }

    @Override
    public void close() {
      close.run();
    }
  }
}
