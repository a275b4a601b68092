// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.MemoryRegion;
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
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests datagrams on InfiniBand, where a LID leads to a port in the subnet and a GID to another
 * subnet. The device has a port with the same LID in each of two subnets; LID 1 is the router.
 */
@Tag(FakeRdmaCore.TAG)
final class InfiniBandDatagramsTest {
  private static final String FIRST = "10.0.24.1";
  private static final String SECOND = "10.0.34.1";
  private static final int ROUTER = 1;
  private static final int KEY = 0x1234;
  private static final int HEADER = GlobalRoute.LENGTH;

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  /** A queue pair for datagrams on a port, with memory to send and to receive. */
  private static final class End implements AutoCloseable {
    final DisniDevice device;
    final DisniProtectionDomain domain;
    final DisniCompletionQueue completions;
    final DisniQueuePair pair;
    final ByteBuffer into = ByteBuffer.allocateDirect(HEADER + Long.BYTES);
    final MemoryRegion target;
    private final ByteBuffer from = ByteBuffer.allocateDirect(Long.BYTES);
    private final MemoryRegion source;

    @SuppressWarnings("MustBeClosedChecker")
    End(String host) {
      device = FakeRdmaCore.open(FakeRdmaCore.uri(host));
      domain = device.allocateProtectionDomain();
      completions = device.createCompletionQueue(8, null, false);
      pair = ready(domain.createQueuePair(options().withType(QueuePairType.UD)));
      source = domain.register(from, Set.of());
      target = domain.register(into, Set.of(Access.LOCAL_WRITE));
    }

    QueuePairOptions options() {
      return QueuePairOptions.reliable(completions, completions, 2, 2);
    }

    DisniQueuePair ready(DisniQueuePair made) {
      made.modify(
          new QueuePairAttributes()
              .state(QueuePairState.INIT)
              .pkeyIndex(0)
              .port(device.port().number())
              .queueKey(KEY));
      made.modify(new QueuePairAttributes().state(QueuePairState.RTR));
      made.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(0));
      return made;
    }

    int lid() {
      return device.port().lid();
    }

    Gid gid() {
      return device.port().gids().get(0);
    }

    void receive() {
      pair.postReceive(request());
    }

    ReceiveWorkRequest request() {
      return new ReceiveWorkRequest()
          .id(1)
          .buffer(target.address(), into.capacity(), target.lkey());
    }

    /** Posts a message and takes its completion. */
    void send(long message, DisniAddressHandle to, int number) {
      from.putLong(0, message);
      pair.postSend(
          new SendWorkRequest()
              .id(2)
              .send()
              .buffer(source.address(), Long.BYTES, source.lkey())
              .to(to, number, KEY)
              .signaled());
      WorkCompletion sent = next();
      assertThat(sent.isSuccess()).as("%s", sent).isTrue();
      assertThat(sent.opcode()).isEqualTo(CompletionOpcode.SEND);
    }

    WorkCompletion next() {
      WorkCompletion[] one = WorkCompletion.array(1);
      Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> completions.poll(one) == 1);
      return one[0];
    }

    /** Takes the completion of the receive and expects this message. */
    WorkCompletion taken(long message) {
      WorkCompletion received = next();
      assertThat(received.isSuccess()).as("%s", received).isTrue();
      assertThat(received.opcode()).isEqualTo(CompletionOpcode.RECV);
      assertThat(received.byteLength()).isEqualTo(HEADER + Long.BYTES);
      assertThat(into.getLong(HEADER)).isEqualTo(message);
      return received;
    }

    @Override
    public void close() {
      pair.close();
      source.close();
      target.close();
      completions.close();
      domain.close();
      device.close();
    }
  }

  private static AddressVector way(Gid to, int lid, int serviceLevel) {
    return new AddressVector(to, 0, 64, 0, 0, lid, serviceLevel);
  }

  @ParameterizedTest
  @CsvSource({FIRST + ", 1", SECOND + ", 2"})
  void comeByTheLidWithoutAGlobalRoute(String host, int port) {
    try (End one = new End(host);
        End two = new End(host);
        DisniAddressHandle handle =
            one.domain.createAddressHandle(AddressVector.toLid(two.lid()))) {
      two.receive();

      one.send(42, handle, two.pair.number());

      WorkCompletion received = two.taken(42);
      assertThat(received.flags()).isZero();
      assertThat(received.sourceQueuePair()).isEqualTo(one.pair.number());
      assertThat(received.sourceLid()).isEqualTo(one.lid()).isEqualTo(7);
      assertThat(FakeRdmaCore.isGlobal(handle.pointer())).isFalse();
      assertThat(FakeRdmaCore.lid(handle.pointer())).isEqualTo(7);
      assertThat(FakeRdmaCore.port(handle.pointer())).isEqualTo(port);
    }
  }

  @Test
  void nameTheirSenderWhereAReliableQueuePairSharesTheirReceives() {
    try (End one = new End(FIRST);
        End two = new End(FIRST);
        SharedReceiveQueue shared = two.domain.createSharedReceiveQueue(2, 1);
        DisniQueuePair datagrams =
            two.domain.createQueuePair(
                two.options().withType(QueuePairType.UD).withSharedReceiveQueue(shared));
        DisniQueuePair reliable =
            two.domain.createQueuePair(two.options().withSharedReceiveQueue(shared));
        DisniAddressHandle handle =
            one.domain.createAddressHandle(AddressVector.toLid(two.lid()))) {
      shared.postReceive(two.request());

      one.send(42, handle, two.ready(datagrams).number());

      WorkCompletion received = two.taken(42);
      assertThat(received.queuePairNumber()).isEqualTo(datagrams.number());
      assertThat(received.sourceQueuePair()).isEqualTo(one.pair.number());
      assertThat(received.sourceLid()).isEqualTo(one.lid());
      assertThat(reliable.sharedReceiveQueue()).isSameAs(shared);
    }
  }

  /** The address vector has both GID and LID, as in a program that exchanges both. */
  @ParameterizedTest
  @ValueSource(strings = {FIRST, SECOND})
  void haveNoGlobalRouteWhereTheGidIsOfTheSubnet(String host) {
    try (End one = new End(host);
        End two = new End(host);
        DisniAddressHandle handle = one.domain.createAddressHandle(way(two.gid(), two.lid(), 0))) {
      two.receive();

      one.send(43, handle, two.pair.number());

      assertThat(two.taken(43).flags()).isZero();
      assertThat(FakeRdmaCore.isGlobal(handle.pointer())).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {FIRST, SECOND})
  void leadBackByTheLidAndTheServiceLevel(String host) {
    try (End one = new End(host);
        End two = new End(host);
        DisniAddressHandle there =
            one.domain.createAddressHandle(way(new Gid(0, 0), two.lid(), 5))) {
      two.receive();
      one.receive();
      one.send(44, there, two.pair.number());
      WorkCompletion received = two.taken(44);

      // The bytes in front of the message are not a valid header.
      try (DisniAddressHandle back =
          (DisniAddressHandle) two.domain.createAddressHandle(received, two.into)) {
        two.send(45, back, received.sourceQueuePair());

        assertThat(one.taken(45).serviceLevel()).isEqualTo(5);
        assertThat(back.vector()).isEqualTo(way(new Gid(0, 0), one.lid(), 5));
        assertThat(FakeRdmaCore.isGlobal(back.pointer())).isFalse();
      }
    }
  }

  @Test
  void haveAGlobalRouteToAnotherSubnetAndBack() {
    try (End one = new End(FIRST);
        End two = new End(SECOND);
        DisniAddressHandle there = one.domain.createAddressHandle(way(two.gid(), ROUTER, 3))) {
      two.receive();
      one.receive();

      one.send(46, there, two.pair.number());

      WorkCompletion received = two.taken(46);
      assertThat(received.flags()).isEqualTo(WorkCompletion.GRH);
      assertThat(received.sourceLid()).isEqualTo(ROUTER);
      assertThat(FakeRdmaCore.isGlobal(there.pointer())).isTrue();
      try (DisniAddressHandle back =
          (DisniAddressHandle) two.domain.createAddressHandle(received, two.into)) {
        two.send(47, back, received.sourceQueuePair());

        assertThat(one.taken(47).flags()).isEqualTo(WorkCompletion.GRH);
        assertThat(back.vector()).isEqualTo(way(one.gid(), ROUTER, 3));
        assertThat(FakeRdmaCore.isGlobal(back.pointer())).isTrue();
      }
    }
  }

  /** Both ports have the same LID, so only the port distinguishes the queue pairs. */
  @Test
  void areOfThePortThatTheDeviceWasOpenedOn() {
    try (End one = new End(FIRST);
        End two = new End(SECOND);
        End near = new End(FIRST);
        DisniAddressHandle handle =
            one.domain.createAddressHandle(AddressVector.toLid(two.lid()))) {
      two.receive();
      near.receive();

      one.send(48, handle, two.pair.number());
      one.send(49, handle, near.pair.number());

      near.taken(49);
      assertThat(two.completions.poll(WorkCompletion.array(1))).isZero();
    }
  }

  @Test
  void leadNowhereFromWhatIsNoDatagram() {
    try (End end = new End(FIRST)) {
      WorkCompletion none = new WorkCompletion();
      none.set(1, CompletionOpcode.RECV, HEADER, 0, 5, 6, 0);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> end.domain.createAddressHandle(none, end.into))
          .returns(VerbsError.INVALID, VerbsException::error);
    }
  }
}
