// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests kinds of devices on which the full TCK does not run. */
@Tag(FakeRdmaCore.TAG)
final class DeviceKindsTest {
  private static final String INFINIBAND = "10.0.4.1:0";

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "10.0.1.1", // a RoCE GID
        "10.0.4.1", // InfiniBand
        "10.0.7.1", // iWARP
        "10.0.13.1", // a second port
        "10.0.14.1", // a second port of InfiniBand
        "10.0.103.1", // a VLAN
        "[fd00:1::1]"
      })
  void movesBytesOverAConnectionOfTheConnectionManager(String host) throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri(host + ":0"), "", false)) {
      sendOne(link);
    }
  }

  private static void sendOne(FakeConnection link) {
    ByteBuffer from = ByteBuffer.allocateDirect(8).putLong(0, 42);
    ByteBuffer into = ByteBuffer.allocateDirect(8);
    try (MemoryRegion source = link.domain.register(from, Set.of());
        MemoryRegion target = link.domain.register(into, Set.of(Access.LOCAL_WRITE))) {
      link.server.postReceive(
          new ReceiveWorkRequest().id(1).buffer(target.address(), 8, target.lkey()));
      link.client.postSend(
          new SendWorkRequest().id(2).send().buffer(source.address(), 8, source.lkey()).signaled());

      // Completions of different queue pairs have no order.
      assertThat(List.of(link.complete(), link.complete()))
          .allMatch(WorkCompletion::isSuccess)
          .extracting(WorkCompletion::opcode)
          .containsExactlyInAnyOrder(CompletionOpcode.SEND, CompletionOpcode.RECV);
      assertThat(into.getLong(0)).isEqualTo(42);
    }
  }

  @Test
  void refusesInlineDataOnADeviceThatHasNone() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.11.1:0"), "", false)) {
      QueuePairOptions options =
          QueuePairOptions.reliable(link.completions, link.completions, 1, 1).withInlineData(1);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> link.domain.createQueuePair(options))
          .returns(VerbsError.NOT_SUPPORTED, VerbsException::error);
      assertThatExceptionOfType(PostException.class)
          .isThrownBy(
              () ->
                  link.client.postSend(new SendWorkRequest().send().inline(ByteBuffer.allocate(1))))
          .returns(VerbsError.NOT_SUPPORTED, PostException::error);
    }
  }

  @Test
  void connectsFromAnAddressThatNeedsNoScope() throws Exception {
    // The first IPv6 addresses of the device are link-local.
    try (FakeConnection link =
        new FakeConnection(FakeRdmaCore.uri("[fd00:3::1]:0"), "?device=mlx5_3", false)) {
      assertThat(link.active.localAddress()).isNotNull();
      sendOne(link);
    }
  }

  @Test
  void reachesAListenerOnALinkLocalAddressByTheAddressThatItTells() throws Exception {
    try (FakeConnection link =
        new FakeConnection(FakeRdmaCore.uri("[fe80::e42:a1ff:fe00:2%1]:0"), "", false)) {
      assertThat(link.listener.address().getHost()).endsWith("%1]");
      sendOne(link);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INFINIBAND, "10.0.14.1:0"})
  void reachesAPortOfTheSubnetByItsLidWithoutAGlobalRoute(String address) {
    try (DisniDevice device = open(address);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniQueuePair one = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 4, 4));
        DisniQueuePair two =
            domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 4, 4))) {
      AddressVector way = AddressVector.toLid(device.port().lid());
      connect(one, two, way);
      connect(two, one, way);

      one.postSend(new SendWorkRequest().id(7).write(0, 0).signaled());
      WorkCompletion[] done = WorkCompletion.array(1);
      Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> queue.poll(done) == 1);

      assertThat(done[0].isSuccess()).as("%s", done[0]).isTrue();
      AddressVector told = one.query().addressVector();
      assertThat(told).isNotNull();
      assertThat(told.lid()).isEqualTo(device.port().lid());
      assertThat(device.at().needsRoute(way)).isFalse();
    }
  }

  private static void connect(DisniQueuePair pair, DisniQueuePair peer, AddressVector way) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(pair.protectionDomain().device().port().number())
            .access(Set.of(Access.REMOTE_WRITE)));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(way)
            .pathMtu(Mtu.MTU_1024)
            .destinationQueuePair(peer.number())
            .receivePsn(0)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(12));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(14)
            .retryCount(7)
            .rnrRetry(7)
            .sendPsn(0)
            .maxReadAtomic(1));
  }

  @Test
  void sendsOnTheServiceLevelOfTheWay() {
    try (DisniDevice device = open(INFINIBAND);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniCompletionQueue queue = device.createCompletionQueue(8, null, false);
        DisniQueuePair one = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 4, 4));
        DisniQueuePair two =
            domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 4, 4))) {
      AddressVector way = new AddressVector(new Gid(0, 0), 0, 64, 0, 0, device.port().lid(), 5);
      connect(one, two, way);
      connect(two, one, AddressVector.toLid(device.port().lid()));

      try (DisniAddressHandle handle = new DisniAddressHandle(domain, way);
          DisniAddressHandle plain = new DisniAddressHandle(domain, AddressVector.toLid(9))) {
        assertThat(FakeRdmaCore.serviceLevel(handle.pointer())).isEqualTo(5);
        assertThat(FakeRdmaCore.serviceLevel(plain.pointer())).isZero();
      }
      assertThat(FakeRdmaCore.pairServiceLevel(one.pointer())).isEqualTo(5);
      assertThat(FakeRdmaCore.pairServiceLevel(two.pointer())).isZero();
      AddressVector told = one.query().addressVector();
      assertThat(told).isNotNull();
      assertThat(told.serviceLevel()).isEqualTo(5);
    }
  }

  @Test
  void makesAddressHandlesByLidAndByGid() {
    try (DisniDevice device = open(INFINIBAND);
        DisniProtectionDomain domain = device.allocateProtectionDomain()) {
      new DisniAddressHandle(domain, AddressVector.toLid(9)).close();

      // On InfiniBand a GID without a LID does not lead anywhere.
      assertThatThrownBy(
              () -> new DisniAddressHandle(domain, AddressVector.to(new Gid(1, 2))).close())
          .isInstanceOf(VerbsException.class);
    }
    try (DisniDevice device = open("10.0.1.1:0");
        DisniProtectionDomain domain = device.allocateProtectionDomain()) {
      new DisniAddressHandle(domain, AddressVector.to(device.port().gids().get(3))).close();
      assertThat(device.port().lid()).isZero();
    }
  }

  @Test
  void needsAGlobalRouteToAnotherSubnet() {
    try (DisniDevice device = open(INFINIBAND)) {
      Gid own = device.port().gids().get(0);
      AddressVector near = new AddressVector(new Gid(own.high(), 5), 0, 64, 0, 0, 9, 0);
      AddressVector far = new AddressVector(new Gid(own.high() + 1, 5), 0, 64, 0, 0, 9, 0);

      assertThat(device.at().needsRoute(near)).isFalse();
      assertThat(device.at().needsRoute(far)).isTrue();
    }
  }

  private static DisniDevice open(String address) {
    return FakeRdmaCore.open(FakeRdmaCore.uri(address));
  }

  @Test
  void refusesADeviceWithoutReliableConnections() {
    assertThatThrownBy(() -> FakeRdmaCore.open(FakeRdmaCore.uri("10.0.8.1:0")))
        .hasMessageContaining("rdmap0s6")
        .hasMessageContaining("reliable connections");
  }

  @Test
  void keepsTheMemoryOfARegionThatNobodyHasAnyMore() throws Exception {
    DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.1.1:0"));
    DisniProtectionDomain domain = device.allocateProtectionDomain();
    WeakReference<ByteBuffer> registered = register(domain);
    WeakReference<ByteBuffer> other = new WeakReference<>(ByteBuffer.allocateDirect(4096));

    Awaitility.await()
        .atMost(10, TimeUnit.SECONDS)
        .until(
            () -> {
              System.gc();
              return other.refersTo(null);
            });

    // The region's keys are still valid, so the HCA may write to this memory.
    assertThat(registered.refersTo(null)).isFalse();
  }

  /** Registers memory and drops the region without closing it. */
  @SuppressWarnings("MustBeClosedChecker")
  private static WeakReference<ByteBuffer> register(DisniProtectionDomain domain) {
    ByteBuffer memory = ByteBuffer.allocateDirect(4096);
    domain.register(memory, Set.of(Access.LOCAL_WRITE));
    return new WeakReference<>(memory);
  }
}
