// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.sanitizer.FindingCollector;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A device that breaks looks to a program as an RNIC that breaks does. */
@Timeout(60)
class DeviceFailureTest {
  private static final long LIMIT = TimeUnit.SECONDS.toNanos(20);
  private static final AtomicLong NAMES = new AtomicLong();

  private final String name = "failing-" + NAMES.incrementAndGet();

  /** A device with the objects created on it, and one end of a connection. */
  private final class Side implements AutoCloseable {
    final Device device;
    final CompletionQueue queue;
    final ProtectionDomain domain;
    final MemoryRegion region;
    final ConnectionManager manager;
    private final WorkCompletion[] one = WorkCompletion.array(1);
    ConnectionIdentifier connection;
    QueuePair pair;

    Side(String query) {
      device = new EmulatedProvider().open(URI.create("emulated://" + name + query));
      queue = device.createCompletionQueue(16, null);
      domain = device.allocateProtectionDomain();
      region = domain.register(ByteBuffer.allocateDirect(64), Set.of(Access.LOCAL_WRITE));
      manager = device.createConnectionManager();
    }

    void have(ConnectionIdentifier identifier) {
      connection = identifier;
      pair = identifier.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, 4, 4));
    }

    ConnectionEvent event() throws InterruptedException {
      ConnectionEvent event = manager.await(LIMIT);
      assertThat(event).isNotNull();
      return event;
    }

    void receive(long id) {
      pair.postReceive(new ReceiveWorkRequest().id(id).buffer(region.address(), 8, region.lkey()));
    }

    void send(long id) {
      pair.postSend(
          new SendWorkRequest()
              .send()
              .id(id)
              .signaled()
              .buffer(region.address(), 8, region.lkey()));
    }

    WorkCompletion completion() {
      long deadline = System.nanoTime() + LIMIT;
      while (queue.poll(one) == 0) {
        assertThat(System.nanoTime()).as("a completion is late").isLessThan(deadline);
        Thread.onSpinWait();
      }
      return one[0];
    }

    @Override
    public void close() {
      if (pair != null) {
        pair.close();
      }
      if (connection != null) {
        connection.close();
      }
      manager.close();
      region.close();
      domain.close();
      queue.close();
      device.close();
    }
  }

  /** Connects two sides; the caller closes the listener before the passive side. */
  private ConnectionListener connect(Side passive, Side active) throws InterruptedException {
    ConnectionListener listener = passive.manager.listen(URI.create("emulated://" + name), 4);
    active.have(active.manager.resolve(URI.create("emulated://" + name), LIMIT));
    assertThat(active.event().type()).isEqualTo(ConnectionEvent.Type.ADDR_RESOLVED);
    active.connection.connect(ConnectionParameters.defaults(), LIMIT);
    ConnectionEvent request = passive.event();
    passive.have(request.identifier());
    passive.connection.accept(ConnectionParameters.defaults());
    assertThat(passive.event().type()).isEqualTo(ConnectionEvent.Type.ESTABLISHED);
    assertThat(active.event().type()).isEqualTo(ConnectionEvent.Type.ESTABLISHED);
    return listener;
  }

  private static void refused(ThrowingCallable verb) {
    assertThatThrownBy(verb)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.IO))
        .hasMessageContaining("device emulated0 has failed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "&mode=async", "&wire=simulated", "&sanitize=true"})
  void endsAllThatIsPendingAndTellsWhy(String options) throws InterruptedException {
    String others = options.isEmpty() ? "" : "?" + options.substring(1);
    // With sanitize=true, the message that waits for a receive is a finding.
    FindingCollector findings = FindingCollector.start();
    try (Side failing = new Side("?fuse=" + name + options);
        Side peer = new Side(others);
        ConnectionListener listener = connect(failing, peer)) {
      assertThat(listener.address().getAuthority()).isEqualTo(name);
      failing.receive(1);
      failing.receive(2);
      // The send stays pending because the peer has posted no receive.
      failing.send(3);

      assertThat(DeviceFault.inject(name)).isEqualTo(1);

      EnumSet<CompletionStatus> ends = EnumSet.noneOf(CompletionStatus.class);
      for (int i = 0; i < 3; i++) {
        ends.add(failing.completion().status());
      }
      assertThat(ends).containsExactly(CompletionStatus.WR_FLUSH_ERR);
      assertThat(failing.pair.state()).isEqualTo(QueuePairState.ERR);
      assertThat(failing.event().type()).isEqualTo(ConnectionEvent.Type.DEVICE_REMOVAL);
      refused(() -> failing.manager.await(LIMIT));
      assertThat(failing.device.awaitAsyncEvent(LIMIT))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, null));
      assertThat(failing.device.awaitAsyncEvent(0)).isNull();
      assertThat(failing.device.port().active()).isFalse();
      // Requests posted later complete with an error as well.
      failing.receive(4);
      assertThat(failing.completion().status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
    } finally {
      findings.finish();
    }
  }

  @Test
  void tellsThePeerNothingWhoseRequestsAreNotAnswered() throws InterruptedException {
    try (Side failing = new Side("?fuse=" + name);
        Side peer = new Side("");
        ConnectionListener listener = connect(failing, peer)) {
      assertThat(listener).isNotNull();
      failing.receive(1);
      DeviceFault.inject(name);

      assertThat(peer.manager.await(0)).isNull();
      peer.send(1);

      assertThat(peer.completion().status()).isEqualTo(CompletionStatus.RETRY_EXC_ERR);
      assertThat(peer.device.port().active()).isTrue();
    }
  }

  @Test
  void refusesEveryVerbThatNeedsIt() throws InterruptedException {
    try (Side side = new Side("?fuse=" + name);
        Side peer = new Side("");
        ConnectionListener listener = connect(side, peer);
        SharedReceiveQueue shared = side.domain.createSharedReceiveQueue(4, 1);
        ProtectionDomain other = side.device.allocateProtectionDomain()) {
      assertThat(listener).isNotNull();
      ByteBuffer memory = ByteBuffer.allocateDirect(64);
      Device device = side.device;
      ProtectionDomain domain = side.domain;

      DeviceFault.inject(name);

      refused(device::allocateProtectionDomain);
      refused(device::createCompletionChannel);
      refused(() -> device.createCompletionQueue(1, null));
      refused(device::createConnectionManager);
      refused(() -> domain.register(memory, Set.of()));
      refused(() -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_1));
      refused(() -> domain.createSharedReceiveQueue(1, 1));
      refused(
          () -> domain.createQueuePair(QueuePairOptions.reliable(side.queue, side.queue, 1, 1)));
      refused(() -> domain.createAddressHandle(AddressVector.to(device.port().gids().get(0))));
      refused(() -> side.region.reregister(other, null, null));
      refused(() -> side.queue.resize(32));
      refused(() -> shared.limit(1));
      refused(() -> side.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET)));
      refused(() -> side.manager.listen(URI.create("emulated://" + name + "-2"), 1));
      refused(() -> side.manager.resolve(URI.create("emulated://" + name), LIMIT));
      refused(() -> side.connection.connect(ConnectionParameters.defaults(), LIMIT));
      refused(() -> side.connection.accept(ConnectionParameters.defaults()));
    }
  }

  /** Otherwise closing its completion queue and its domain would fail as busy for ever. */
  @ParameterizedTest
  @ValueSource(strings = {"", "&mode=async", "&wire=simulated", "&sanitize=true"})
  void leavesNothingOfAQueuePairThatItBreaksInTheMiddleOf(String options)
      throws InterruptedException {
    try (Side side = new Side("?fuse=" + name + options)) {
      side.connection = side.manager.resolve(URI.create("emulated://" + name), LIMIT);
      assertThat(side.event().type()).isEqualTo(ConnectionEvent.Type.ADDR_RESOLVED);
      BreaksWhileOpening.next(name);

      refused(() -> side.have(side.connection));

      assertThat(side.connection.queuePair()).isNull();
      side.queue.close();
    }
  }

  @Test
  void wakesWhoWaitsForItsEvents() {
    try (Side side = new Side("?fuse=" + name)) {
      CompletableFuture<ConnectionEvent> waiting =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return side.manager.await(LIMIT);
                } catch (InterruptedException e) {
                  throw new CompletionException(e);
                }
              },
              task -> new Thread(task, "awaits-events").start());
      DeviceFault.inject(name);

      refused(
          () -> {
            try {
              waiting.join();
            } catch (CompletionException e) {
              throw e.getCause();
            }
          });
    }
  }

  @Test
  void answersNoConnectRequestAnyMore() throws InterruptedException {
    try (Side failing = new Side("?fuse=" + name);
        Side peer = new Side("");
        ConnectionListener listener = failing.manager.listen(URI.create("emulated://" + name), 4)) {
      assertThat(listener).isNotNull();
      DeviceFault.inject(name);
      peer.have(peer.manager.resolve(URI.create("emulated://" + name), LIMIT));
      assertThat(peer.event().type()).isEqualTo(ConnectionEvent.Type.ADDR_RESOLVED);

      peer.connection.connect(ConnectionParameters.defaults(), TimeUnit.MILLISECONDS.toNanos(50));

      ConnectionEvent event = peer.event();
      assertThat(event.type()).isEqualTo(ConnectionEvent.Type.UNREACHABLE);
      assertThat(event.status()).isEqualTo(ConnectionEvent.TIMED_OUT);
    }
  }

  @Test
  void breaksOnlyWhatIsOpenWithTheFuse() {
    try (Side one = new Side("?fuse=" + name);
        Side two = new Side("?fuse=" + name);
        Side other = new Side("?fuse=" + name + "-other")) {
      assertThat(DeviceFault.inject(name)).isEqualTo(2);
      assertThat(DeviceFault.inject(name)).isZero();

      assertThat(one.device.port().active()).isFalse();
      assertThat(two.device.port().active()).isFalse();
      assertThat(other.device.port().active()).isTrue();
      try (Side later = new Side("?fuse=" + name)) {
        assertThat(later.device.port().active()).isTrue();
      }
    }
    assertThat(DeviceFault.inject(name)).isZero();
  }
}
