// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Devices that are removed, and ports and queues that fail. */
final class FailingDevicesTest extends ScriptedFaults {
  private static final URI REMOVABLE = FakeRdmaCore.uri("10.0.20.1:0");

  @Test
  void closesAllThatIsOnADeviceThatWasRemoved() throws Exception {
    // The device is opened by its address, without a name.
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

  /** With a limit of locked memory, a failing call says nothing about the device's capabilities. */
  @ParameterizedTest
  @CsvSource({"ibv_create_qp, 2", "ibv_resize_cq, 1", "ibv_rereg_mr, 1"})
  void isNotTakenForOneThatCanDoLessWhereItHasNoMemory(String call, int trials) {
    FakeRdmaCore.script("remove mlx5_20");
    FakeRdmaCore.script("return mlx5_20");
    Set<Capability> all;
    try (DisniDevice device = FakeRdmaCore.open(REMOVABLE)) {
      all = device.attributes().capabilities();
    }
    int refused = 0;
    boolean failed = true;
    for (int skip = 0; failed; skip++) {
      FakeRdmaCore.script("remove mlx5_20");
      FakeRdmaCore.script("return mlx5_20");
      FakeRdmaCore.script("fail " + call + ' ' + Errno.ENOMEM + ' ' + skip);
      try (DisniDevice device = FakeRdmaCore.open(REMOVABLE)) {
        assertThat(device.attributes().capabilities()).isEqualTo(all);
      } catch (VerbsException e) {
        assertThat(e.error()).isEqualTo(VerbsError.NO_MEMORY);
        refused++;
      }
      failed = !FakeRdmaCore.tells("is-waiting");
      FakeRdmaCore.script("clear");
    }
    assertThat(refused).isEqualTo(trials);
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
    // The kernel reports nothing about the other connections.
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
  void worksOnWhereAnotherDeviceIsRemovedThatAnIdentifierIsBoundTo() throws Exception {
    URI address = FakeRdmaCore.uri("10.0.1.1:0");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniConnectionManager manager = device.createConnectionManager();
        DisniConnection elsewhere =
            manager.resolve(PortSpace.TCP, FakeRdmaCore.uri("10.0.20.1:7000"), NANOS)) {
      assertThat(manager.await(NANOS))
          .isNotNull()
          .returns(elsewhere, ConnectionEvent::identifier)
          .returns(ConnectionEvent.Type.ADDR_ERROR, ConnectionEvent::type);

      FakeRdmaCore.script("remove mlx5_20");
      FakeRdmaCore.script("return mlx5_20");

      assertThat(manager.await(SOON)).isNull();
      manager.listen(PortSpace.TCP, address, 1).close();
    }
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
    // A thread that waits without a timeout can still be woken.
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
  void tellsOfAPortThoseAloneWhoseDeviceIsOpenOnIt() throws Exception {
    try (DisniDevice first = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.3.1:0"));
        DisniDevice second = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.13.1:0"))) {
      FakeRdmaCore.script("down mlx5_3 2");
      assertThat(second.awaitAsyncEvent(NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ERR, null));
      assertThat(first.awaitAsyncEvent(0)).isNull();
      assertThat(second.port().active()).isFalse();
      assertThat(first.port().active()).isTrue();

      FakeRdmaCore.script("up mlx5_3 2");
      assertThat(second.awaitAsyncEvent(NANOS))
          .isEqualTo(new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, null));
      assertThat(first.awaitAsyncEvent(0)).isNull();

      FakeRdmaCore.script("remove mlx5_3");
      FakeRdmaCore.script("return mlx5_3");
      for (DisniDevice device : List.of(second, first)) {
        assertThat(device.awaitAsyncEvent(NANOS))
            .isEqualTo(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, null));
      }
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
                  // The other thread may get the event instead; then this call returns null at
                  // once.
                  device.awaitAsyncEvent(1);
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      Awaitility.await().until(() -> FakeRdmaCore.tells("is-paused ibv_ack_async_event"));

      // After the acknowledgement the queue may be destroyed and its address reused.
      AsyncEvent event = device.awaitAsyncEvent(NANOS);
      FakeRdmaCore.script("resume ibv_ack_async_event");

      assertThat(event).isEqualTo(new AsyncEvent(AsyncEvent.Type.SRQ_ERR, queue));
      reader.get(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void keepsNoOtherDeviceThanTheOneThatIsOpen() {
    // Replaces both devices by new ones, which nobody has opened yet.
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
}
