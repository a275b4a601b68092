// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Connections with failing or overdue steps, and with late or lost events. */
final class FailingConnectionsTest extends ScriptedFaults {
  @ParameterizedTest
  @CsvSource({
    "0, ADDR_ERROR", // ADDR_RESOLVED is lost
    "1, ADDR_ERROR", // ROUTE_RESOLVED is lost
    "2, UNREACHABLE", // CONNECT_REQUEST is lost
    "3, UNREACHABLE" // CONNECT_RESPONSE is lost
  })
  void endsAStepOfWhichNothingIsTold(int earlier, ConnectionEvent.Type end) throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1)) {
      QueuePairOptions options = QueuePairOptions.reliable(queue, queue, 4, 4);
      ConnectionParameters parameters =
          new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7);
      FakeRdmaCore.script("lose cm 1 " + earlier);

      List<ConnectionIdentifier> ends = new ArrayList<>();
      long toResolve = end == ConnectionEvent.Type.ADDR_ERROR ? SOON : NANOS;
      ends.add(manager.resolve(PortSpace.TCP, listener.address(), toResolve));
      ConnectionEvent event = manager.await(NANOS);
      while (event != null && event.type() != end) {
        switch (event.type()) {
          case ADDR_RESOLVED -> {
            event.identifier().createQueuePair(domain, options);
            event.identifier().connect(parameters, SOON);
          }
          case CONNECT_REQUEST -> {
            ends.add(event.identifier());
            event.identifier().createQueuePair(domain, options);
            event.identifier().accept(parameters);
          }
          default -> throw new AssertionError(event);
        }
        event = manager.await(NANOS);
      }

      assertThat(event).isNotNull();
      assertThat(event.identifier()).isSameAs(ends.get(0));
      assertThat(event.status()).isEqualTo(ConnectionEvent.TIMED_OUT);
      // The addresses remain available for logs, though the kernel's identifier is gone.
      URI listens = listener.address();
      assertThat(event.identifier().remoteAddress())
          .isEqualTo(new InetSocketAddress(listens.getHost(), listens.getPort()));
      assertThat(event.identifier().localAddress())
          .isNotNull()
          .returns(listens.getHost(), InetSocketAddress::getHostString);
      for (ConnectionIdentifier each : ends) {
        if (each.queuePair() != null) {
          each.queuePair().close();
        }
        each.close();
      }
    }
  }

  /** DiSNI's own endpoints wait for ever in this case (issue 41 of its tracker). */
  @ParameterizedTest
  @CsvSource({
    "1, 0", // RDMA_CM_EVENT_ADDR_ERROR
    "3, 1" // RDMA_CM_EVENT_ROUTE_ERROR, as from a subnet manager under load
  })
  void tellsAtOnceThatAnAddressOrItsRouteIsNotResolved(int event, int earlier) throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1)) {
      FakeRdmaCore.script("turn-cm " + event + " " + ConnectionEvent.TIMED_OUT + " " + earlier);

      try (DisniConnection failed =
          manager.resolve(PortSpace.TCP, listener.address(), TimeUnit.DAYS.toNanos(1))) {
        assertThat(manager.await(NANOS))
            .isNotNull()
            .returns(failed, ConnectionEvent::identifier)
            .returns(ConnectionEvent.Type.ADDR_ERROR, ConnectionEvent::type)
            .returns(ConnectionEvent.TIMED_OUT, ConnectionEvent::status);
      }
      try (DisniConnection next = manager.resolve(PortSpace.TCP, listener.address(), NANOS)) {
        ConnectionEvent resolved = expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
        assertThat(resolved.identifier()).isSameAs(next);
      }
    }
  }

  @Test
  void keepsAnIdentifierThatIsOverdueWhileItIsBeingResolved() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1)) {
      FakeRdmaCore.script("hold cm");
      FakeRdmaCore.script("pause rdma_resolve_addr");
      CompletableFuture<DisniConnection> resolving =
          CompletableFuture.supplyAsync(
              () -> manager.resolve(PortSpace.TCP, listener.address(), 1));
      Awaitility.await().until(() -> FakeRdmaCore.tells("is-paused rdma_resolve_addr"));
      int objects = FakeRdmaCore.connectionObjects();
      FutureTask<ConnectionEvent> told = new FutureTask<>(() -> manager.await(NANOS));
      Thread teller = new Thread(told);
      teller.start();

      Awaitility.await()
          .until(
              () ->
                  teller.getState() == Thread.State.BLOCKED
                      || FakeRdmaCore.connectionObjects() != objects);
      boolean isKept = FakeRdmaCore.connectionObjects() == objects && !told.isDone();
      FakeRdmaCore.script("resume rdma_resolve_addr");

      assertThat(isKept).as("whether the identifier was kept").isTrue();
      try (DisniConnection overdue = resolving.get(10, TimeUnit.SECONDS)) {
        assertThat(told.get(10, TimeUnit.SECONDS))
            .returns(overdue, ConnectionEvent::identifier)
            .returns(ConnectionEvent.Type.ADDR_ERROR, ConnectionEvent::type)
            .returns(ConnectionEvent.TIMED_OUT, ConnectionEvent::status);
        assertThat(manager.await(SOON)).isNull();
      }
    }
  }

  @Test
  void looksAfterThoseConnectionsAloneOfWhichAStepIsPending() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      DisniConnectionManager manager = (DisniConnectionManager) link.manager;
      assertThat(manager.timed()).isEmpty();

      FakeRdmaCore.script("hold cm");
      try (DisniConnection pending =
          manager.resolve(PortSpace.TCP, link.listener.address(), NANOS)) {
        assertThat(manager.timed()).containsExactly(pending);
      }

      assertThat(manager.timed()).isEmpty();
    }
  }

  /** With iWARP the kernel does not destroy an identifier while its driver connects it. */
  @Test
  void keepsNobodyWaitingForAConnectionOfIwarpThatIsGivenUp() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.16.1:0");
    FakeRdmaCore.open(address).close();
    int before = FakeRdmaCore.connectionObjects();
    try (FakeConnection link = new FakeConnection(address, "", false);
        ConnectionListener other = link.manager.listen(address, 1)) {
      ConnectionIdentifier overdue = link.manager.resolve(link.listener.address(), NANOS);
      QueuePair ofOverdue = connectInVain(link, overdue, SOON);
      FakeRdmaCore.script("pause rdma_destroy_id");
      try {
        assertThat(expectSoon(link, ConnectionEvent.Type.UNREACHABLE).identifier())
            .isSameAs(overdue);
        Awaitility.await().until(() -> FakeRdmaCore.tells("is-paused rdma_destroy_id"));
        ConnectionIdentifier closed = link.manager.resolve(other.address(), NANOS);
        QueuePair ofClosed = connectInVain(link, closed, NANOS);
        CompletableFuture.runAsync(closed::close).get(10, TimeUnit.SECONDS);
        ofClosed.close();

        link.active.disconnect();

        expectSoon(link, ConnectionEvent.Type.DISCONNECTED);
        expectSoon(link, ConnectionEvent.Type.DISCONNECTED);
      } finally {
        FakeRdmaCore.script("resume rdma_destroy_id");
      }
      ofOverdue.close();
      overdue.close();
    }
    // Abandoned identifiers are destroyed asynchronously.
    Awaitility.await().until(() -> FakeRdmaCore.connectionObjects() == before);
  }

  private static QueuePair connectInVain(
      FakeConnection link, ConnectionIdentifier active, long timeoutNanos) throws Exception {
    expectSoon(link, ConnectionEvent.Type.ADDR_RESOLVED);
    QueuePair pair =
        active.createQueuePair(
            link.domain, QueuePairOptions.reliable(link.completions, link.completions, 1, 1));
    FakeRdmaCore.script("lose cm");
    active.connect(new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7), timeoutNanos);
    return pair;
  }

  /** Waits in another thread, because a native call might block this one for ever. */
  private static ConnectionEvent expectSoon(FakeConnection link, ConnectionEvent.Type type)
      throws Exception {
    FutureTask<ConnectionEvent> told = new FutureTask<>(() -> link.expect(type));
    new Thread(told).start();
    return told.get(10, TimeUnit.SECONDS);
  }

  @Test
  void takesNoAnswerThatComesBehindItsDeadline() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1)) {
      FakeRdmaCore.script("hold cm");
      DisniConnection active = manager.resolve(PortSpace.TCP, listener.address(), SOON);
      expect(manager, ConnectionEvent.Type.ADDR_ERROR);

      FakeRdmaCore.script("release cm");

      assertThat(manager.await(SOON)).isNull();
      active.close();
    }
  }

  /** As for a thread that was not scheduled before its deadline. */
  @Test
  void takesAnAnswerThatIsThereAlthoughItsDeadlineIsOver() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1);
        DisniConnection active = manager.resolve(PortSpace.TCP, listener.address(), 1)) {
      ConnectionEvent resolved = expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);

      assertThat(resolved.identifier()).isSameAs(active);
    }
  }

  @Test
  void tellsTheEndOfAConnectionWhoseQueuePairCannotBeFlushed() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      // The second call concerns the end that gets the event.
      FakeRdmaCore.script("fail ibv_modify_qp " + Errno.ENOMEM + " 1");

      link.active.disconnect();

      assertThat(List.of(link.manager.await(NANOS), link.manager.await(NANOS)))
          .extracting(ConnectionEvent::type, ConnectionEvent::status)
          .containsExactlyInAnyOrder(
              tuple(ConnectionEvent.Type.DISCONNECTED, -Errno.ENOMEM),
              tuple(ConnectionEvent.Type.DISCONNECTED, 0));
    }
  }

  @Test
  void refusesToAcceptWhatHasEnded() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      link.active.disconnect();
      link.expect(ConnectionEvent.Type.DISCONNECTED);
      link.expect(ConnectionEvent.Type.DISCONNECTED);

      for (ConnectionIdentifier end : List.of(link.active, link.passive)) {
        assertThatExceptionOfType(VerbsException.class)
            .isThrownBy(() -> end.accept(ConnectionParameters.defaults()))
            .returns(VerbsError.INVALID, VerbsException::error);
      }

      assertThat(link.manager.await(SOON)).isNull();
    }
  }

  /** The program learns of the cancellation by one CONNECT_ERROR after its accept. */
  @Test
  void refusesToAcceptOnceMoreACallerWhoGaveUp() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1)) {
      DisniConnection active = manager.resolve(PortSpace.TCP, listener.address(), NANOS);
      expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair client = connect(active, domain, queue);
      ConnectionIdentifier passive =
          expect(manager, ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      client.close();
      active.close();
      try (QueuePair server =
          passive.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, 1, 1))) {
        passive.accept(ConnectionParameters.defaults());
        expect(manager, ConnectionEvent.Type.CONNECT_ERROR);

        assertThatExceptionOfType(VerbsException.class)
            .isThrownBy(() -> passive.accept(ConnectionParameters.defaults()))
            .returns(VerbsError.INVALID, VerbsException::error);

        assertThat(manager.await(SOON)).isNull();
        assertThat(passive.queuePair()).isSameAs(server);
      }
      passive.close();
    }
  }

  @Test
  void closesAConnectionWhoseQueuePairCannotBeFlushed() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      int objects = FakeRdmaCore.connectionObjects();
      FakeRdmaCore.script("fail ibv_modify_qp " + Errno.ENOMEM);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(link.active::close)
          .returns(VerbsError.NO_MEMORY, VerbsException::error);

      assertThat(FakeRdmaCore.connectionObjects()).isEqualTo(objects - 1);
    }
  }

  /** Linux returns ENXIO for a device that was removed. */
  @Test
  void closesARequestThatCannotBeRejected() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1);
        DisniConnection active = manager.resolve(PortSpace.TCP, listener.address(), NANOS)) {
      expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
      try (QueuePair client = connect(active, domain, queue)) {
        ConnectionIdentifier passive =
            expect(manager, ConnectionEvent.Type.CONNECT_REQUEST).identifier();
        FakeRdmaCore.script("fail rdma_reject 6");

        passive.close();

        expect(manager, ConnectionEvent.Type.REJECTED);
        assertThat(active.queuePair()).isSameAs(client);
      }
    }
  }

  @Test
  void closesAListenerWhoseRequestsCannotBeRejected() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.7.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniConnectionManager manager = device.createConnectionManager()) {
      int objects = FakeRdmaCore.connectionObjects();
      DisniListener listener = manager.listen(PortSpace.TCP, address, 2);
      try (DisniConnection one = manager.resolve(PortSpace.TCP, listener.address(), NANOS);
          DisniConnection two = manager.resolve(PortSpace.TCP, listener.address(), NANOS)) {
        expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
        expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
        try (QueuePair first = connect(one, domain, queue);
            QueuePair second = connect(two, domain, queue)) {
          // Asking for the state reads the connection manager's events, because siw reports no
          // state.
          assertThat(List.of(first.state(), second.state())).doesNotContain(QueuePairState.RTS);
          FakeRdmaCore.script("fail rdma_reject 6");

          listener.close();
        }
      }

      // Abandoned iWARP connects are cleaned up asynchronously.
      Awaitility.await().until(() -> FakeRdmaCore.connectionObjects() == objects);
    }
  }

  private static QueuePair connect(
      DisniConnection active, DisniProtectionDomain domain, DisniCompletionQueue queue) {
    QueuePair pair = active.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, 1, 1));
    active.connect(new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7), NANOS);
    return pair;
  }

  @Test
  void doesNotConnectToAPeerThatTheDriverRefuses() throws Exception {
    FakeRdmaCore.script("fail ibv_set_ece 111 1");

    assertThat(connectAnd(pair -> {})).isEqualTo(-111);
  }

  @Test
  void doesNotConnectAQueuePairThatIsClosedBeforeThePeerAnswers() throws Exception {
    assertThat(connectAnd(QueuePair::close)).isEqualTo(-Errno.EINVAL);
  }

  @Test
  void flushesAQueuePairThatAcceptedACallerWhoGaveUp() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    ConnectionParameters parameters = new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7);
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1);
        DisniConnection active = manager.resolve(PortSpace.TCP, listener.address(), NANOS)) {
      expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePairOptions options = QueuePairOptions.reliable(queue, queue, 4, 4);
      try (QueuePair client = active.createQueuePair(domain, options)) {
        active.connect(parameters, NANOS);
        ConnectionIdentifier passive =
            expect(manager, ConnectionEvent.Type.CONNECT_REQUEST).identifier();
        QueuePair server = passive.createQueuePair(domain, options);
        server.postReceive(new ReceiveWorkRequest().id(1));
        passive.accept(parameters);

        Stream.<Runnable>of(client::close, active::close).forEach(Runnable::run);

        expect(manager, ConnectionEvent.Type.CONNECT_ERROR);
        WorkCompletion[] flushed = WorkCompletion.array(1);
        assertThat(queue.poll(flushed)).isEqualTo(1);
        assertThat(flushed[0].status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
        server.close();
        passive.close();
      }
    }
  }

  /** Connects to a device that accepts; returns the status of the CONNECT_ERROR. */
  private static int connectAnd(Consumer<QueuePair> beforeTheAnswer) throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    ConnectionParameters parameters = new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7);
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniListener listener = manager.listen(PortSpace.TCP, address, 1);
        DisniConnection active = manager.resolve(PortSpace.TCP, listener.address(), NANOS)) {
      expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePairOptions options = QueuePairOptions.reliable(queue, queue, 4, 4);
      try (QueuePair client = active.createQueuePair(domain, options)) {
        active.connect(parameters, NANOS);
        ConnectionIdentifier passive =
            expect(manager, ConnectionEvent.Type.CONNECT_REQUEST).identifier();
        QueuePair server = passive.createQueuePair(domain, options);
        passive.accept(parameters);

        beforeTheAnswer.accept(client);
        ConnectionEvent event = expect(manager, ConnectionEvent.Type.CONNECT_ERROR);

        server.close();
        passive.close();
        return event.status();
      }
    }
  }

  private static ConnectionEvent expect(DisniConnectionManager manager, ConnectionEvent.Type type)
      throws InterruptedException {
    ConnectionEvent event = manager.await(NANOS);
    assertThat(event).isNotNull();
    assertThat(event.type()).as("%s", event).isEqualTo(type);
    return event;
  }

  /** Only a sanitizer sees a use of the channel after its end, see {@link SanitizedTest}. */
  @Test
  void closesAManagerWhoseEventIsBeingTaken() throws Exception {
    try (DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.1.1:0"))) {
      for (int i = 0; i < 300; i++) {
        DisniConnectionManager manager = device.createConnectionManager();
        CompletableFuture<Object> waited = new CompletableFuture<>();
        Thread waiter =
            new Thread(
                () -> {
                  try {
                    waited.complete(String.valueOf(manager.await(NANOS)));
                  } catch (InterruptedException | RuntimeException e) {
                    waited.completeExceptionally(e);
                  }
                });
        waiter.start();
        manager.resolve(PortSpace.TCP, FakeRdmaCore.uri("10.0.1.1:9"), NANOS).close();
        for (int spin = 0; spin < i; spin++) {
          Thread.onSpinWait();
        }

        manager.close();

        assertThat(waited.get(20, TimeUnit.SECONDS)).isNotNull();
        waiter.join();
      }
    }
  }
}
