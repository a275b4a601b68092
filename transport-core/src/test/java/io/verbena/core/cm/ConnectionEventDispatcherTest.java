// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of listeners when events cannot be taken any more. */
class ConnectionEventDispatcherTest {
  private static final URI ADDRESS = URI.create("failing://device");

  @ParameterizedTest
  @EnumSource(VerbsError.class)
  void tellsListenersThatNoEventFollows(VerbsError error) throws Exception {
    FailingManager manager = new FailingManager(error);
    ConnectionEventDispatcher dispatcher =
        new ConnectionEventDispatcher("failing-cm", deviceOf(manager), null);
    CompletableFuture<VerbsException> told = new CompletableFuture<>();
    ConnectionListener listener = dispatcher.listen(ADDRESS, 1, new Target(told));

    dispatcher.start();
    manager.failure.countDown();

    assertThat(told).succeedsWithin(Duration.ofSeconds(10)).isSameAs(manager.thrown);
    assertThat(dispatcher.hasFailed()).isTrue();
    dispatcher.close(listener);
    dispatcher.close(Duration.ofSeconds(10).toNanos());
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

  /** Fails whoever awaits an event, once it is told to. */
  private static final class FailingManager implements ConnectionManager {
    private final CountDownLatch failure = new CountDownLatch(1);
    private final VerbsException thrown;

    FailingManager(VerbsError error) {
      thrown = new VerbsException(error, "get connection event");
    }

    @Override
    public @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException {
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
    public void close() {}
  }
}
