// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Devices that fail, by the script of the fake rdma-core, which is one for the whole process. */
@Tag(FakeRdmaCore.TAG)
@Isolated("the script makes calls of all devices fail")
final class FailingDevicesTest {
  private static final URI REMOVABLE = FakeRdmaCore.uri("10.0.20.1:0");
  private static final long NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long SOON = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int EIO = 5;
  private static final int EOPNOTSUPP = 95;

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @AfterEach
  void clear() {
    FakeRdmaCore.script("clear");
  }

  @Test
  void closesAllThatIsOnADeviceThatWasRemoved() throws Exception {
    // Opened by its address, without a name.
    FakeConnection link = new FakeConnection(REMOVABLE, "", true);
    DisniContext before = ((DisniDevice) link.device).context();

    FakeRdmaCore.script("remove mlx5_20");
    FakeRdmaCore.script("return mlx5_20");
    link.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
    link.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
    link.close();

    FakeRdmaCore.script("unused-contexts-only");
    try (FakeConnection again = new FakeConnection(REMOVABLE, "", false)) {
      assertThat(((DisniDevice) again.device).context()).isNotSameAs(before);
    }
  }

  @Test
  void tellsThatTheDeviceOfAListenerIsGone() throws Exception {
    try (DisniDevice device = FakeRdmaCore.open(REMOVABLE)) {
      DisniConnectionManager manager = device.createConnectionManager();
      DisniListener listener = manager.listen(PortSpace.TCP, REMOVABLE, 1);
      FakeRdmaCore.script("lose async");

      FakeRdmaCore.script("remove mlx5_20");
      FakeRdmaCore.script("return mlx5_20");

      assertHasFailed(() -> manager.await(NANOS));
      assertThat(device.awaitAsyncEvent(NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, null));
      listener.close();
      manager.close();
    }
  }

  @Test
  void endsTheEventsOfAConnectionManagerWithItsDevice() throws Exception {
    FakeConnection link = new FakeConnection(REMOVABLE, "", true);
    // Of the other connections the kernel tells nothing.
    FakeRdmaCore.script("lose cm 2");

    FakeRdmaCore.script("remove mlx5_20");
    FakeRdmaCore.script("return mlx5_20");

    link.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
    link.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
    assertHasFailed(() -> link.manager.await(NANOS));
    assertHasFailed(() -> link.manager.listen(REMOVABLE, 1));
    assertHasFailed(() -> link.manager.resolve(link.listener.address(), NANOS));
    link.close();
  }

  @Test
  void findsOutByACompletionChannelThatItsDeviceIsGone() throws Exception {
    FakeConnection link = new FakeConnection(REMOVABLE, "", true);
    FakeRdmaCore.script("lose cm 9");
    FakeRdmaCore.script("lose async");
    FakeRdmaCore.script("remove mlx5_20");
    FakeRdmaCore.script("return mlx5_20");

    assertThat(link.channel.await(1)).isNull();

    link.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
    link.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
    assertHasFailed(() -> link.manager.await(NANOS));
    // Who waits there for ever may still be woken.
    CompletableFuture<Void> waker = CompletableFuture.runAsync(link.channel::wakeup);
    assertThat(link.channel.await(TimeUnit.DAYS.toNanos(1))).isNull();
    waker.join();
    link.close();
  }

  @Test
  void endsTheEventsOfAConnectionManagerWhenTheDeviceIsOfNoUse() throws Exception {
    FakeConnection link = new FakeConnection(REMOVABLE, "", false);
    FakeRdmaCore.script("lose cm 9");
    FakeRdmaCore.script("remove mlx5_20");
    FakeRdmaCore.script("return mlx5_20");

    assertThat(link.device.awaitAsyncEvent(NANOS))
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, null));

    link.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
    link.expect(ConnectionEvent.Type.DEVICE_REMOVAL);
    assertHasFailed(() -> link.manager.await(NANOS));
    link.close();
  }

  private static void assertHasFailed(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.IO))
        .hasMessageContaining("device mlx5_20 has failed (DEVICE_FATAL)");
  }

  @ParameterizedTest
  @CsvSource({
    "0, ADDR_ERROR", // ADDR_RESOLVED is lost
    "1, ADDR_ERROR", // ROUTE_RESOLVED
    "2, UNREACHABLE", // CONNECT_REQUEST
    "3, UNREACHABLE" // CONNECT_RESPONSE
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
      // For logs, though the kernel's identifier is gone.
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

  /** DiSNI's own endpoints wait for ever then (issue 41 of its tracker). */
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

  /** With iWARP the kernel destroys no identifier while its driver connects it. */
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
    assertThat(FakeRdmaCore.connectionObjects()).isEqualTo(before);
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

  /** In another thread, since this one must not be stuck in a native call. */
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

  @Test
  void tellsTheEndOfAConnectionWhoseQueuePairCannotBeFlushed() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      // The second is of the end that is told.
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
  void losesNoCompletionWhenALaterOneCannotBePolled() throws Exception {
    int count = 70;
    try (FakeConnection link =
        new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false, count, 0)) {
      link.client.postSend(writes(count));
      // Of 64 at a time.
      FakeRdmaCore.script("fail ibv_poll_cq " + EIO + " 1");

      assertThat(link.completions.poll(WorkCompletion.array(count))).isEqualTo(64);
      assertThat(link.completions.poll(WorkCompletion.array(count))).isEqualTo(count - 64);

      FakeRdmaCore.script("fail ibv_poll_cq " + EIO);
      assertThatThrownBy(() -> link.completions.poll(WorkCompletion.array(1)))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.IO));
    }
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

  /** Calls a device that accepts; returns the status of the CONNECT_ERROR. */
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

  @Test
  void tellsThatAPortWentDownAndUp() throws Exception {
    try (DisniDevice device = FakeRdmaCore.open(REMOVABLE)) {
      FakeRdmaCore.script("down mlx5_20 1");
      assertThat(device.awaitAsyncEvent(NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ERR, null));
      assertThat(device.port().active()).isFalse();

      FakeRdmaCore.script("up mlx5_20 1");
      assertThat(device.awaitAsyncEvent(NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, null));
      assertThat(device.port().active()).isTrue();
    }
  }

  @Test
  void tellsThatASharedReceiveQueueFailed() throws Exception {
    try (Device device = FakeRdmaCore.open(REMOVABLE);
        ProtectionDomain domain = device.allocateProtectionDomain();
        SharedReceiveQueue queue = domain.createSharedReceiveQueue(4, 1)) {
      FakeRdmaCore.script("break-srq mlx5_20");

      assertThat(device.awaitAsyncEvent(NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.SRQ_ERR, queue));
    }
  }

  @Test
  void looksAnEventUpBeforeItIsAcknowledged() throws Exception {
    try (Device device = FakeRdmaCore.open(REMOVABLE);
        ProtectionDomain domain = device.allocateProtectionDomain();
        SharedReceiveQueue queue = domain.createSharedReceiveQueue(4, 1)) {
      FakeRdmaCore.script("pause ibv_ack_async_event");
      FakeRdmaCore.script("break-srq mlx5_20");
      CompletableFuture<Void> reader =
          CompletableFuture.runAsync(
              () -> {
                try {
                  // It may be told to the other thread, which then waits for nothing more.
                  device.awaitAsyncEvent(1);
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      Awaitility.await().until(() -> FakeRdmaCore.tells("is-paused ibv_ack_async_event"));

      // Once it is acknowledged, the queue may be destroyed, and its address be another's.
      AsyncEvent event = device.awaitAsyncEvent(NANOS);
      FakeRdmaCore.script("resume ibv_ack_async_event");

      assertThat(event).isEqualTo(new AsyncEvent(AsyncEvent.Type.SRQ_ERR, queue));
      reader.get(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void keepsNoOtherDeviceThanTheOneThatIsOpen() {
    // New ones, which nobody has opened yet.
    for (String name : List.of("mlx5_20", "siw0")) {
      FakeRdmaCore.script("remove " + name);
      FakeRdmaCore.script("return " + name);
    }
    try (Device device = FakeRdmaCore.open(REMOVABLE)) {
      FakeRdmaCore.script("remove siw0");

      assertThat(FakeRdmaCore.tells("is-freed siw0")).isTrue();
      FakeRdmaCore.script("return siw0");
      FakeRdmaCore.script("remove mlx5_20");
      assertThat(FakeRdmaCore.tells("is-freed mlx5_20")).as("%s is open", device).isFalse();
      FakeRdmaCore.script("return mlx5_20");
    }
  }

  @Test
  void losesNoCompletionWhenTheFlushOfSoftRoceFails() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.9.1:0"), "", false)) {
      FakeRdmaCore.script("fail ibv_modify_qp " + EIO);

      assertThat(writeToNowhere(link).status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  void modifiesNoQueuePairThatFailedByItself() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      FakeRdmaCore.script("fail ibv_modify_qp " + EIO);

      assertThat(writeToNowhere(link).status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
      // The failure is still there for whoever modifies one.
      assertThatThrownBy(
              () -> link.client.modify(new QueuePairAttributes().state(QueuePairState.ERR)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("errno " + EIO);
    }
  }

  @Test
  void knowsWhatWasPostedThoughTheDriverDoesNotSayWhatItRefused() throws Exception {
    try (FakeConnection link = new FakeConnection(REMOVABLE, "", false)) {
      FakeRdmaCore.script("fail ibv_post_recv " + EOPNOTSUPP);
      FakeRdmaCore.script("fail ibv_post_send " + EOPNOTSUPP);

      assertThatThrownBy(
              () ->
                  link.server.postReceive(
                      new ReceiveWorkRequest().id(1).next(new ReceiveWorkRequest().id(2))))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 1");
      assertThatThrownBy(
              () -> link.client.postSend(nothing().id(3).next(nothing().id(4).signaled())))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 3");

      for (int id = 0; id < link.client.capabilities().maxSend(); id++) {
        link.client.postSend(nothing().id(id).signaled());
        assertThat(link.complete().workRequestId()).isEqualTo(id);
      }
      for (int id = 0; id < link.server.capabilities().maxReceive(); id++) {
        link.server.postReceive(new ReceiveWorkRequest().id(id));
      }
    }
  }

  @Test
  void knowsWhatWasPostedOfAListThatTheDriverTookInPart() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false, 4, 0);
        SharedReceiveQueue shared = link.domain.createSharedReceiveQueue(4, 1)) {
      FakeRdmaCore.script("fail ibv_post_send/request " + EIO + " 2");
      assertThatThrownBy(() -> link.client.postSend(writes(4)))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 3");
      FakeRdmaCore.script("fail ibv_post_recv/request " + EIO + " 2");
      assertThatThrownBy(() -> link.server.postReceive(receives(4)))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 3");
      FakeRdmaCore.script("fail ibv_post_recv/request " + EIO + " 2");
      assertThatThrownBy(() -> shared.postReceive(receives(4)))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 3");

      // What was not posted holds no slot, and what was does.
      link.client.postSend(writes(2));
      for (int id : new int[] {1, 2, 1, 2}) {
        assertThat(link.complete().workRequestId()).isEqualTo(id);
      }
      link.server.postReceive(receives(2));
      shared.postReceive(receives(2));
      assertThatThrownBy(() -> link.server.postReceive(receives(1)))
          .hasMessageContaining("receives outstanding: 4");
      assertThatThrownBy(() -> shared.postReceive(receives(1)))
          .hasMessageContaining("receives outstanding: ");
    }
  }

  private static SendWorkRequest writes(int count) {
    SendWorkRequest first = null;
    for (int id = count; id > 0; id--) {
      first = nothing().id(id).signaled().next(first);
    }
    return first;
  }

  private static ReceiveWorkRequest receives(int count) {
    ReceiveWorkRequest first = null;
    for (int id = count; id > 0; id--) {
      first = new ReceiveWorkRequest().id(id).next(first);
    }
    return first;
  }

  /** A write of no bytes, which needs no key. */
  private static SendWorkRequest nothing() {
    return new SendWorkRequest().write(0, 0);
  }

  @Test
  void asksForOneGidToCheckAnAddress() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      QueuePair pair =
          link.domain.createQueuePair(
              QueuePairOptions.reliable(link.completions, link.completions, 1, 1));
      pair.modify(toInit());
      AddressVector self = AddressVector.to(link.device.port().gids().get(0));
      QueuePairAttributes ready =
          new QueuePairAttributes()
              .state(QueuePairState.RTR)
              .addressVector(self)
              .pathMtu(link.device.port().activeMtu())
              .destinationQueuePair(pair.number())
              .receivePsn(1)
              .maxDestinationReadAtomic(1)
              .minRnrTimer(1);
      FakeRdmaCore.script("fail _ibv_query_gid_ex " + EIO + " 1");

      pair.modify(ready);

      assertThat(pair.state()).isEqualTo(QueuePairState.RTR);
      pair.close();
    }
  }

  private static QueuePairAttributes toInit() {
    return new QueuePairAttributes()
        .state(QueuePairState.INIT)
        .pkeyIndex(0)
        .port(1)
        .access(Set.of());
  }

  private static WorkCompletion writeToNowhere(FakeConnection link) {
    try (MemoryRegion from = link.domain.register(ByteBuffer.allocateDirect(8), Set.of())) {
      link.client.postSend(
          new SendWorkRequest().id(1).write(8, 1).buffer(from.address(), 8, from.lkey()));
      return link.complete();
    }
  }

  /** To what the driver is led by a request that it is given. */
  private enum LedTo {
    ADDRESS_HANDLE,
    MEMORY_WINDOW,
    MEMORY_REGION
  }

  @ParameterizedTest
  @EnumSource(LedTo.class)
  void destroysNothingToWhichARequestLeadsThatIsBeingPosted(LedTo kind) throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.11.1:0"), "", false);
        QueuePair datagrams = readyForDatagrams(link);
        AddressHandle handle =
            link.domain.createAddressHandle(AddressVector.to(link.device.port().gids().get(0)));
        MemoryWindow window = link.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B);
        MemoryRegion region =
            link.domain.register(ByteBuffer.allocateDirect(8), Set.of(Access.MW_BIND))) {
      QueuePair pair = kind == LedTo.ADDRESS_HANDLE ? datagrams : link.client;
      SendWorkRequest request =
          kind == LedTo.ADDRESS_HANDLE
              ? new SendWorkRequest().send().to(handle, datagrams.number(), 1).signaled()
              : new SendWorkRequest()
                  .bind(window, region, Access.REMOTE_READ.bit())
                  .buffer(region.address(), 8, region.lkey());
      Runnable close =
          switch (kind) {
            case ADDRESS_HANDLE -> handle::close;
            case MEMORY_WINDOW -> window::close;
            case MEMORY_REGION -> region::close;
          };
      int objects = FakeRdmaCore.objects();
      FakeRdmaCore.script("pause ibv_post_send");
      CompletableFuture<Void> posted =
          CompletableFuture.runAsync(() -> postOrBeRefused(pair, request));
      Awaitility.await().until(() -> FakeRdmaCore.tells("is-paused ibv_post_send"));

      Thread closer = new Thread(close);
      closer.start();
      Awaitility.await()
          .until(
              () -> closer.getState() == Thread.State.BLOCKED || FakeRdmaCore.objects() != objects);
      int meanwhile = FakeRdmaCore.objects();
      FakeRdmaCore.script("resume ibv_post_send");
      posted.get(10, TimeUnit.SECONDS);
      closer.join();

      assertThat(meanwhile).isEqualTo(objects);
      assertThat(FakeRdmaCore.objects()).isEqualTo(objects - 1);
      assertThatThrownBy(() -> pair.postSend(request)).isInstanceOf(PostException.class);
    }
  }

  /** The fake binds nothing. */
  private static void postOrBeRefused(QueuePair pair, SendWorkRequest request) {
    try {
      pair.postSend(request);
    } catch (PostException refused) {
      assertThat(refused.error()).isEqualTo(VerbsError.INVALID);
    }
  }

  private static QueuePair readyForDatagrams(FakeConnection link) {
    QueuePair pair =
        link.domain.createQueuePair(
            QueuePairOptions.reliable(link.completions, link.completions, 1, 1)
                .withType(QueuePairType.UD));
    pair.modify(
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).queueKey(1));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
    return pair;
  }

  @Test
  void closesAQueueWhoseEventIsBeingTaken() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", true)) {
      CompletableFuture<Void> done = new CompletableFuture<>();
      Thread taker =
          new Thread(
              () -> {
                try {
                  while (!done.isDone()) {
                    CompletionQueue queue = link.channel.await(TimeUnit.MILLISECONDS.toNanos(10));
                    if (queue != null) {
                      queue.acknowledgeEvents(1);
                    }
                  }
                } catch (InterruptedException | RuntimeException e) {
                  done.completeExceptionally(e);
                }
              });
      taker.start();
      Thread closer =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 3000; i++) {
                    closeWithAnEvent(link, i);
                  }
                  done.complete(null);
                } catch (RuntimeException e) {
                  done.completeExceptionally(e);
                }
              });
      closer.start();

      done.get(60, TimeUnit.SECONDS);
      taker.join();
      closer.join();
    }
  }

  /** A use of the channel after its end only a sanitizer sees, see {@link SanitizedTest}. */
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

  @Test
  void handsNoClosedDomainToTheHca() {
    ByteBuffer memory = ByteBuffer.allocateDirect(64);
    try (DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.1.1:0"));
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region = domain.register(memory, Set.of())) {
      DisniProtectionDomain closed = device.allocateProtectionDomain();
      closed.close();
      FakeRdmaCore.script("fail ibv_rereg_mr " + EIO);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> region.reregister(closed, null, null))
          .extracting(VerbsException::error)
          .isEqualTo(VerbsError.CLOSED);
      assertThat(region.protectionDomain()).isSameAs(domain);
    }
  }

  @Test
  void leavesARegionWhereItWasWhenTheHcaRefusesToMoveIt() {
    ByteBuffer memory = ByteBuffer.allocateDirect(64);
    try (DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.1.1:0"));
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region = domain.register(memory, Set.of())) {
      DisniProtectionDomain other = device.allocateProtectionDomain();
      FakeRdmaCore.script("fail ibv_rereg_mr " + EIO);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> region.reregister(other, null, null));
      assertThat(region.protectionDomain()).isSameAs(domain);
      other.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "12, NO_MEMORY", // ENOMEM
    "95, NOT_SUPPORTED" // EOPNOTSUPP
  })
  void leavesNoCompletionQueueThatCannotBeModerated(int errno, VerbsError error) {
    URI address = FakeRdmaCore.uri("10.0.1.1:0?cq-count=16&cq-period=20");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniCompletionChannel channel = device.createCompletionChannel()) {
      int objects = FakeRdmaCore.objects();
      FakeRdmaCore.script("fail ibv_modify_cq " + errno);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> device.createCompletionQueue(4, channel, false).close())
          .withMessageContaining("mlx5_0, cq-count: 16, cq-period: 20")
          .extracting(VerbsException::error)
          .isEqualTo(error);
      assertThat(FakeRdmaCore.objects()).isEqualTo(objects);
      device.createCompletionQueue(4, channel, false).close();
    }
  }

  @Test
  void opensNoDeviceThatDoesNotTellHowItModerates() {
    URI address = FakeRdmaCore.uri("10.0.1.1:0?cq-count=16&cq-period=20");
    FakeRdmaCore.script("fail ibv_query_device_ex " + EIO);

    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> FakeRdmaCore.open(address).close())
        .extracting(VerbsException::error)
        .isEqualTo(VerbsError.IO);
    FakeRdmaCore.open(address).close();
  }

  /** Makes a queue, has it tell an event, and closes it at about the time when that is taken. */
  private static void closeWithAnEvent(FakeConnection link, int round) {
    CompletionQueue queue = link.device.createCompletionQueue(4, link.channel);
    QueuePair pair = link.domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));
    queue.arm(false);
    pair.modify(toInit());
    pair.postReceive(new ReceiveWorkRequest().id(1));
    pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    pair.close();
    for (int i = 0; i < round % 400; i++) {
      Thread.onSpinWait();
    }
    while (true) {
      try {
        queue.close();
        return;
      } catch (VerbsException e) {
        if (e.error() != VerbsError.BUSY) {
          throw e;
        }
        Thread.onSpinWait();
      }
    }
  }
}
