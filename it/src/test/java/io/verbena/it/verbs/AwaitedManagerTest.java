// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Tests a connection manager while a thread waits for its events. */
@InSoftRoceGuest(nodes = 2)
class AwaitedManagerTest {
  private static final Duration IDLE = Duration.ofSeconds(3);
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Duration LONG = Duration.ofMinutes(2);

  @Test
  void wakesNoMoreThanForAnInterrupt() throws Exception {
    try (Side side = Side.open(Nodes.server(), 64);
        ConnectionListener listener = side.listen()) {
      assertThat(listener.address().getPort()).isPositive();
      side.manager().await(0);
      long before = switches();

      assertThat(side.manager().await(IDLE.toNanos())).isNull();

      // Ten times a second for the manager, and as often for other waits of the JVM.
      assertThat(switches() - before).isLessThan(20 * IDLE.toSeconds());
    }
  }

  /** Returns how often this thread has gone to sleep. */
  private static long switches() throws IOException {
    return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
        .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
        .sum();
  }

  @Test
  void obeysADeadlineThatWasSetMeanwhile() throws Exception {
    ExecutorService waiter = Executors.newSingleThreadExecutor();
    try (Side server = Side.open(Nodes.server(), 64);
        ConnectionListener listener = server.listen()) {
      URI to = Nodes.fromNode1(listener.address());
      try (Side client = Side.open(to.toString(), 64)) {
        ConnectionIdentifier identifier = client.resolve(to);
        Future<ConnectionEvent> event =
            waiter.submit(
                () -> Objects.requireNonNull(client.manager().await(LONG.toNanos()), "event"));
        long began = System.nanoTime();

        // This request is never answered.
        identifier.connect(ConnectionParameters.defaults(), SOON.toNanos());

        assertThat(event.get().type()).isEqualTo(ConnectionEvent.Type.UNREACHABLE);
        assertThat(event.get().status()).isEqualTo(ConnectionEvent.TIMED_OUT);
        assertThat(System.nanoTime() - began).isLessThan(LONG.toNanos() / 2);
        Side.close(identifier);
      }
      Side.close(server.request());
    } finally {
      waiter.shutdownNow();
    }
  }
}
