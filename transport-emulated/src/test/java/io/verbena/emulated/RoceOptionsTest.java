// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.EnumSet;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Options and attributes that a device on UDP sockets refuses. */
class RoceOptionsTest {

  private static Device open(String options) {
    return new RoceProvider().open(URI.create("roce://" + Loopbacks.address(41) + options));
  }

  private static void assertNotSupported(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NOT_SUPPORTED))
        .hasMessageContaining(message);
  }

  @Test
  void refusesAWayThatSocketsCannotGo() {
    try (Device device = open("");
        CompletionQueue queue = device.createCompletionQueue(4, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1))) {
      Gid self = device.port().gids().get(0);
      pair.modify(toInit());

      assertNotSupported(
          () -> domain.createAddressHandle(new AddressVector(self, 0, 64, 8, 0)),
          "create address handle: traffic class: 8 (expected: 0");
      assertNotSupported(
          () -> domain.createAddressHandle(new AddressVector(self, 0, 1, 0, 0)), "hop limit: 1");
      assertNotSupported(
          () -> domain.createAddressHandle(new AddressVector(self, 0, 64, 0, 5)), "flow label: 5");
      assertNotSupported(
          () -> pair.modify(toReceive(device, new AddressVector(self, 0, 64, 8, 0))),
          "modify queue pair: address vector: traffic class: 8");

      pair.modify(toReceive(device, AddressVector.to(self)));
      try (AddressHandle handle = domain.createAddressHandle(AddressVector.to(self))) {
        assertThat(handle.vector().trafficClass()).isZero();
      }
    }
  }

  @Test
  void refusesALargerPathMtuThanThePorts() {
    try (Device device = open("?mtu=256");
        CompletionQueue queue = device.createCompletionQueue(4, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1))) {
      pair.modify(toInit());
      QueuePairAttributes change = toReceive(device, AddressVector.to(device.port().gids().get(0)));

      assertThatThrownBy(() -> pair.modify(change.pathMtu(Mtu.MTU_512)))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
          .hasMessageContaining("modify queue pair: PATH_MTU: 512 (expected: <= 256, the port's)");

      assertThat(pair.state()).isEqualTo(QueuePairState.INIT);
      pair.modify(change.pathMtu(Mtu.MTU_256));
    }
  }

  private static QueuePairAttributes toInit() {
    return new QueuePairAttributes()
        .state(QueuePairState.INIT)
        .pkeyIndex(0)
        .port(1)
        .access(EnumSet.noneOf(Access.class));
  }

  private static QueuePairAttributes toReceive(Device device, AddressVector vector) {
    return new QueuePairAttributes()
        .state(QueuePairState.RTR)
        .addressVector(vector)
        .pathMtu(device.port().activeMtu())
        .destinationQueuePair(77)
        .receivePsn(1)
        .maxDestinationReadAtomic(1)
        .minRnrTimer(1);
  }

  @Test
  void hasTheLimitsThatItsAddressSays() {
    try (Device device = open("?max-queue-pairs=2&max-message-size=4096");
        Device full = open("");
        CompletionQueue queue = device.createCompletionQueue(4, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        QueuePair one = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));
        QueuePair two = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1))) {
      assertThat(device.attributes().maxMessageSize()).isEqualTo(4096);
      assertThat(full.attributes().maxQueuePairs()).isEqualTo(65_536);
      assertThat(one.number()).isNotEqualTo(two.number());

      assertThatThrownBy(
              () -> domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("2");
    }
    assertThatThrownBy(() -> open("?max-queue-pairs=65537"))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("max-queue-pairs: 65537 (expected: 1..65536)");
  }

  @Test
  void refusesAnotherLimitOfConnectionsThanTheHcaHas() {
    try (Device device = open("?max-connections-per-peer=5")) {
      assertThat(device.attributes().name()).startsWith("roce_");
      assertThatThrownBy(() -> open("?max-connections-per-peer=6"))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("max-connections-per-peer: 6 (expected: 5");
    }
  }
}
