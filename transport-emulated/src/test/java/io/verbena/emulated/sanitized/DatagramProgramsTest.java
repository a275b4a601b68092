// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.NEVER_CLOSED;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.sanitizer.Finding;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DatagramPeer;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Datagrams to a service that was resolved by the connection manager. */
class DatagramProgramsTest extends ProgramTests {
  private static final URI SERVICE = URI.create("emulated://sanitized-service?sanitize=true");
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  /** A connection manager and queue pairs for datagrams on top of another end's objects. */
  private static final class Asked implements AutoCloseable {
    final End end;
    final ConnectionManager manager;

    Asked(End end) {
      this.end = end;
      manager = end.device.createConnectionManager();
    }

    QueuePair queuePair(ConnectionIdentifier identifier) {
      QueuePairOptions options = QueuePairOptions.reliable(end.sends, end.receives, 4, 4);
      return identifier.createQueuePair(end.domain, options.withType(QueuePairType.UD));
    }

    ConnectionEvent next(ConnectionEvent.Type type) {
      try {
        ConnectionEvent event =
            Objects.requireNonNull(manager.await(PATIENCE_NANOS), "an event within 10 s");
        assertThat(event.type()).isEqualTo(type);
        return event;
      } catch (InterruptedException e) {
        throw new AssertionError("interrupted while waiting for a connection event", e);
      }
    }

    @Override
    public void close() {
      manager.close();
    }
  }

  @Test
  void isSilentWhereOneIsSentAndAllIsClosed() {
    run(DatagramProgramsTest::asksAndSends);
    assertSilent();
  }

  private static void asksAndSends(End client, End server) {
    try (Asked caller = new Asked(client);
        Asked callee = new Asked(server);
        ConnectionListener listener = callee.manager.listen(PortSpace.UDP, SERVICE, 1);
        ConnectionIdentifier active =
            caller.manager.resolve(PortSpace.UDP, listener.address(), PATIENCE_NANOS)) {
      caller.next(ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair asking = caller.queuePair(active);
      active.connect(ConnectionParameters.defaults(), PATIENCE_NANOS);
      ConnectionEvent request = callee.next(ConnectionEvent.Type.CONNECT_REQUEST);
      assertThat(request.listener()).isSameAs(listener);
      try (ConnectionIdentifier passive = request.identifier();
          QueuePair serving = callee.queuePair(passive)) {
        serving.postReceive(server.memory(GlobalRoute.LENGTH + 8, LOCAL_WRITE).receive(1));
        passive.accept(ConnectionParameters.defaults());
        ConnectionEvent established = caller.next(ConnectionEvent.Type.ESTABLISHED);
        assertThat(established.identifier()).isSameAs(active);
        DatagramPeer peer = Objects.requireNonNull(established.datagramPeer());
        try (AddressHandle there = client.domain.createAddressHandle(peer.vector())) {
          asking.postSend(
              client.memory(8).send(2).to(there, peer.queuePair(), peer.queueKey()).signaled());
          assertThat(End.take(client.sends).isSuccess()).isTrue();
        }
        assertThat(End.take(server.receives).isSuccess()).isTrue();
      }
      asking.close();
    }
  }

  @Test
  void findsAQuestionThatIsNeverClosed() {
    run(
        (client, server) -> {
          Asked caller = new Asked(client);
          ConnectionIdentifier active =
              caller.manager.resolve(PortSpace.UDP, SERVICE, PATIENCE_NANOS);
          assertThatThrownBy(client.device::close).isInstanceOf(VerbsException.class);
          assertThat(collector().found())
              .filteredOn(finding -> finding.kind() == NEVER_CLOSED)
              .extracting(Finding::message)
              .anyMatch(message -> message.startsWith("connection identifier of emulated://"));
          active.close();
          caller.close();
        });
  }
}
