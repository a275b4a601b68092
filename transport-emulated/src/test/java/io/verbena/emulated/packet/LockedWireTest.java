// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.Fault.Kind;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two queue pairs of a locked connection on a wire with faults. */
class LockedWireTest {
  private static final long DEADLINE = 60_000_000_000L;
  private static final int LENGTH = 10_000;
  private static final int ROUNDS = 40;
  private static final SharedSecret KEY = SharedSecret.of(new byte[32]);
  private static final byte[] NOTHING = new byte[0];
  private static final int FIRST_PSN = 1000;

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private <T extends AutoCloseable> T own(T object) {
    open.add(object);
    return object;
  }

  /** One end: a device with memory and a queue pair. */
  private final class End {
    final Device device;
    final CompletionQueue queue;
    final ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 16).order(ByteOrder.nativeOrder());
    final MemoryRegion region;
    final QueuePair pair;
    private final WorkCompletion[] one = WorkCompletion.array(1);

    End(SimulatedFabric fabric) {
      device = own(fabric.open());
      queue = own(device.createCompletionQueue(64, null));
      ProtectionDomain domain = own(device.allocateProtectionDomain());
      region = own(domain.register(bytes, EnumSet.allOf(Access.class)));
      pair = own(domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 16, 16)));
    }

    Gid gid() {
      return device.port().gids().get(0);
    }

    void connect(End to, @Nullable SharedSecret key, boolean active) {
      pair.modify(
          new QueuePairAttributes()
              .state(QueuePairState.INIT)
              .pkeyIndex(0)
              .port(1)
              .access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)));
      if (key != null) {
        PacketFabric.protect(
            (EmulatedQueuePair) pair, SessionKeys.of(key, active, NOTHING, NOTHING).packets());
      }
      pair.modify(
          new QueuePairAttributes()
              .state(QueuePairState.RTR)
              .addressVector(AddressVector.to(to.gid()))
              .pathMtu(Mtu.MTU_256)
              .destinationQueuePair(to.pair.number())
              .receivePsn(FIRST_PSN)
              .maxDestinationReadAtomic(4)
              .minRnrTimer(1));
      pair.modify(
          new QueuePairAttributes()
              .state(QueuePairState.RTS)
              .timeout(10)
              .retryCount(7)
              .rnrRetry(7)
              .sendPsn(FIRST_PSN)
              .maxReadAtomic(4));
    }

    void post(SendWorkRequest request, int offset, int length) {
      pair.postSend(request.signaled().buffer(region.address() + offset, length, region.lkey()));
    }
  }

  private static void await(SimulatedFabric fabric, End end) {
    boolean came = fabric.run(() -> end.queue.poll(end.one) > 0, fabric.time().now() + DEADLINE);
    assertThat(came).as("a completion").isTrue();
    assertThat(end.one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  private static void fill(End end, int seed) {
    for (int i = 0; i < LENGTH; i++) {
      end.bytes.put(i, (byte) (seed * 31 + i * 7 + i / 256));
    }
  }

  private static FaultSchedule faults() {
    return new FaultSchedule(
        1000,
        List.of(
            Fault.always(Kind.LOSS, 30_000, 0, 1),
            Fault.always(Kind.DUPLICATE, 50_000, 5_000, 2),
            Fault.always(Kind.REORDER, 50_000, 9_000, 3),
            Fault.always(Kind.CORRUPTION, 30_000, 3, 4)));
  }

  /** Records the number of each sealed packet, and counts plaintext packets. */
  private static final class Spy implements SimulatedWire.Tap {
    final Map<Integer, Set<Long>> numbers = new HashMap<>();
    final List<RocePacket> writes = new ArrayList<>();
    int packets;
    int open;
    int twice;

    @Override
    public void sent(long now, int source, int destination, RocePacket frame) {
      packets++;
      if (!frame.isLocked()) {
        open++;
        return;
      }
      long number = frame.bytes().getLong(frame.length() - 4 - Long.BYTES);
      if (!numbers.computeIfAbsent(source, each -> new HashSet<>()).add(number)) {
        twice++;
      }
      if (frame.opcode() == PacketOpcode.RC_WRITE_ONLY) {
        writes.add(new RocePacket().copyFrom(frame));
      }
    }

    @Override
    public void struck(long now, int source, int destination, RocePacket frame, Fault strike) {}

    @Override
    public void arrives(long now, int source, int destination, RocePacket frame) {}
  }

  @Test
  void allOperationsSurviveLossDuplicatesReorderAndDamage() {
    SimulatedFabric fabric = new SimulatedFabric(5, faults());
    Spy spy = new Spy();
    fabric.wire().tap(spy);
    End a = new End(fabric);
    End b = new End(fabric);
    a.connect(b, KEY, true);
    b.connect(a, KEY, false);
    int counter = 1 << 15;
    a.bytes.putLong(counter, 0);
    b.bytes.putLong(counter, 0);

    for (int round = 0; round < ROUNDS; round++) {
      fill(a, round);
      b.pair.postReceive(
          new ReceiveWorkRequest(1).buffer(b.region.address(), LENGTH, b.region.lkey()));
      a.post(new SendWorkRequest(1).send(), 0, LENGTH);
      await(fabric, a);
      await(fabric, b);
      assertThat(b.bytes.slice(0, LENGTH)).isEqualTo(a.bytes.slice(0, LENGTH));

      fill(a, round + 1);
      a.post(new SendWorkRequest(1).write(b.region.address(), b.region.rkey()), 0, LENGTH);
      await(fabric, a);
      assertThat(b.bytes.slice(0, LENGTH)).isEqualTo(a.bytes.slice(0, LENGTH));

      fill(b, round + 2);
      a.post(new SendWorkRequest(1).read(b.region.address(), b.region.rkey()), 0, LENGTH);
      await(fabric, a);
      assertThat(a.bytes.slice(0, LENGTH)).isEqualTo(b.bytes.slice(0, LENGTH));

      a.post(
          new SendWorkRequest(1).fetchAndAdd(b.region.address() + counter, b.region.rkey(), 1),
          counter,
          Long.BYTES);
      await(fabric, a);
      assertThat(a.bytes.getLong(counter)).as("found").isEqualTo(round);
    }

    assertThat(b.bytes.getLong(counter)).isEqualTo(ROUNDS);
    assertThat(a.device.counters().get(Counter.RETRANSMISSIONS)).isPositive();
    assertThat(spy.open).as("packets that are not sealed").isZero();
    assertThat(spy.twice).as("numbers that were used twice").isZero();
    assertThat(spy.packets).isGreaterThan(ROUNDS * 100);
  }

  @Test
  void aForgedWriteChangesMemoryOnAnOpenWireAndNoneOnALockedOne() {
    assertThat(forgedWrite(null)).isEqualTo(0x6666_6666_6666_6666L);
    assertThat(forgedWrite(KEY)).isZero();
  }

  /** Returns the memory after a WRITE forged by somebody who knows all numbers. */
  private long forgedWrite(@Nullable SharedSecret key) {
    SimulatedFabric fabric = new SimulatedFabric(6, FaultSchedule.none(1000));
    End a = new End(fabric);
    End b = new End(fabric);
    a.connect(b, key, true);
    b.connect(a, key, false);
    SimulatedWire.SimulatedPort attacker = fabric.wire().attach((frame, fault) -> {});
    ByteBuffer payload = ByteBuffer.allocate(8).putLong(0, 0x6666_6666_6666_6666L);
    RocePacket forged = new RocePacket();
    forged
        .start(PacketOpcode.RC_WRITE_ONLY)
        .addresses((int) a.gid().low(), (int) b.gid().low())
        .destinationQueuePair(b.pair.number())
        .psn(FIRST_PSN)
        .remoteAddress(b.region.address())
        .remoteKey(b.region.rkey())
        .dmaLength(8)
        .append(payload, 0, 8)
        .seal();

    attacker.send(forged, RocePacket.UDP_PORT);
    fabric.runToEnd();

    long found = b.bytes.getLong(0);
    // The foreign packet has not ended the connection at either end.
    if (key != null) {
      a.bytes.putLong(0, 5);
      a.post(new SendWorkRequest(1).write(b.region.address(), b.region.rkey()), 0, Long.BYTES);
      await(fabric, a);
      assertThat(b.bytes.getLong(0)).isEqualTo(5);
    }
    return found;
  }

  @Test
  void aRecordedWritePlayedAgainWritesNothing() {
    SimulatedFabric fabric = new SimulatedFabric(7, FaultSchedule.none(1000));
    Spy spy = new Spy();
    fabric.wire().tap(spy);
    End a = new End(fabric);
    End b = new End(fabric);
    a.connect(b, KEY, true);
    b.connect(a, KEY, false);
    SimulatedWire.SimulatedPort attacker = fabric.wire().attach((frame, fault) -> {});
    SendWorkRequest write = new SendWorkRequest(1).write(b.region.address(), b.region.rkey());
    a.bytes.putLong(0, 5);
    a.post(write, 0, Long.BYTES);
    await(fabric, a);
    assertThat(spy.writes).hasSize(1);
    RocePacket recorded = spy.writes.get(0);
    assertThat(new RocePacket().copyFrom(recorded).parse()).isEqualTo(PacketFault.NONE);

    b.bytes.putLong(0, 6);
    attacker.send(recorded, RocePacket.UDP_PORT);
    fabric.runToEnd();
    assertThat(b.bytes.getLong(0)).as("after").isEqualTo(6);
    assertThat(b.device.counters().get(Counter.DUPLICATES)).as("seen by the engine").isZero();

    // A recorded packet is not accepted on another connection between the same ends.
    a.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
    b.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
    SharedSecret other = SharedSecret.of(new byte[64]);
    a.connect(b, other, true);
    b.connect(a, other, false);
    attacker.send(recorded, RocePacket.UDP_PORT);
    fabric.runToEnd();
    assertThat(b.bytes.getLong(0)).as("before").isEqualTo(6);

    a.bytes.putLong(0, 7);
    a.post(write, 0, Long.BYTES);
    await(fabric, a);
    assertThat(b.bytes.getLong(0)).isEqualTo(7);
  }

  @Test
  void aQueuePairThatWasResetIsOpenAgain() {
    SimulatedFabric fabric = new SimulatedFabric(8, FaultSchedule.none(1000));
    Spy spy = new Spy();
    fabric.wire().tap(spy);
    End a = new End(fabric);
    End b = new End(fabric);
    a.connect(b, KEY, true);
    b.connect(a, KEY, false);
    a.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
    b.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
    a.connect(b, null, true);
    b.connect(a, null, false);

    a.post(new SendWorkRequest(1).write(b.region.address(), b.region.rkey()), 0, LENGTH);
    await(fabric, a);

    assertThat(spy.open).isEqualTo(spy.packets).isPositive();
  }
}
