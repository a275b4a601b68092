// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The timer of a connect retains nothing after the connect has ended. */
class ConnectDeadlineTest {
  private static final URI ADDRESS = URI.create("emulated://deadline");
  private static final URI NOBODY = URI.create("emulated://nobody");
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();

  private final Device device = new EmulatedProvider().open(ADDRESS);
  private final CompletionQueue completions = device.createCompletionQueue(4, null);
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final ConnectionManager manager = device.createConnectionManager();

  private enum Answer {
    ACCEPT,
    REJECT,
    NONE,
    NOBODY
  }

  @ParameterizedTest
  @CsvSource({
    "TCP, ACCEPT", "TCP, REJECT", "TCP, NONE", "TCP, NOBODY",
    "UDP, ACCEPT", "UDP, REJECT", "UDP, NONE", "UDP, NOBODY"
  })
  void keepsNoIdentifierThatIsClosed(PortSpace space, Answer answer) throws Exception {
    try (device;
        completions;
        domain;
        manager;
        ConnectionListener listener = manager.listen(space, ADDRESS, 1)) {
      assertThat(listener.address()).isEqualTo(ADDRESS);

      WeakReference<ConnectionIdentifier> closed = connectAndClose(space, answer);

      await()
          .atMost(LIMIT)
          .until(
              () -> {
                System.gc();
                return closed.get() == null;
              });
    }
  }

  private WeakReference<ConnectionIdentifier> connectAndClose(PortSpace space, Answer answer)
      throws InterruptedException {
    URI to = answer == Answer.NOBODY ? NOBODY : ADDRESS;
    ConnectionIdentifier active = manager.resolve(space, to, HOUR_NANOS);
    assertThat(next(ConnectionEvent.Type.ADDR_RESOLVED)).isSameAs(active);
    QueuePair pair = active.createQueuePair(domain, options(space));
    active.connect(ConnectionParameters.defaults(), HOUR_NANOS);
    if (answer == Answer.NOBODY) {
      pair.close();
      active.close();
    } else {
      ConnectionIdentifier passive = next(ConnectionEvent.Type.CONNECT_REQUEST);
      QueuePair other = passive.createQueuePair(domain, options(space));
      answer(passive, answer);
      pair.close();
      active.close();
      other.close();
      passive.close();
    }
    return new WeakReference<>(active);
  }

  private static void answer(ConnectionIdentifier passive, Answer answer) {
    switch (answer) {
      case ACCEPT -> passive.accept(ConnectionParameters.defaults());
      case REJECT -> passive.reject(ByteBuffer.allocate(0));
      default -> {}
    }
  }

  private QueuePairOptions options(PortSpace space) {
    QueuePairOptions options = QueuePairOptions.reliable(completions, completions, 1, 1);
    return space == PortSpace.UDP ? options.withType(QueuePairType.UD) : options;
  }

  private ConnectionIdentifier next(ConnectionEvent.Type type) throws InterruptedException {
    ConnectionEvent event = manager.await(LIMIT.toNanos());
    assertThat(event).isNotNull();
    assertThat(event.type()).isEqualTo(type);
    return event.identifier();
  }
}
