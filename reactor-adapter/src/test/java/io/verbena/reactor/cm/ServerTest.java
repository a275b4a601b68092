// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.HcaException;
import io.verbena.RdmaMemory;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.cm.ConnectionSlots;
import io.verbena.reactor.testing.Ends;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Tests a server whose device has failed. */
class ServerTest {
  private static final URI ADDRESS = URI.create("failing://device");

  private final VerbsException failure = new VerbsException(VerbsError.IO, "by a test");

  @Test
  void endsThoughItsListenerCannotBeClosed() {
    AtomicBoolean closes = new AtomicBoolean();
    Server server = listening(closes);

    assertThatThrownBy(() -> server.deviceFailed(failure)).isSameAs(failure);

    assertThat(server.isDisposed()).isTrue();
    assertThat(server.onClose().toFuture())
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .withCauseInstanceOf(HcaException.class)
        .withMessageContaining("has failed");
    closes.set(true);
    server.dispose();
  }

  private Server listening(AtomicBoolean closes) {
    ConnectionListener listener =
        proxy(ConnectionListener.class, call -> call.equals("close") ? close(closes) : ADDRESS);
    ConnectionManager manager = proxy(ConnectionManager.class, call -> listener);
    return new Server(
        ADDRESS,
        new ConnectionEventDispatcher(
            "failing-cm", proxy(Device.class, call -> manager), () -> Long.MAX_VALUE, null),
        () -> {
          throw failure;
        },
        proxy(RdmaMemory.class, call -> null),
        new ConnectionSlots(),
        null,
        Schedulers.immediate(),
        connection -> Mono.never());
  }

  private @Nullable Object close(AtomicBoolean closes) {
    if (!closes.get()) {
      throw failure;
    }
    return null;
  }

  /** Returns a proxy that answers each call with {@code answer} of the method's name. */
  private static <T> T proxy(Class<T> type, Function<String, @Nullable Object> answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answer.apply(method.getName())));
  }
}
