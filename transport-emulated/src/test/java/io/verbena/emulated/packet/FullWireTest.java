// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.packet.PacketCounters.Reason;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A full wire loses no packets: they wait for room. */
class FullWireTest {
  private static final long DEADLINE_NANOS = 60_000_000_000L;
  private static final int PACKETS = 200;
  private static final int LENGTH = PACKETS * DrivenFabric.PAYLOAD;

  private final VirtualTime time = new VirtualTime();
  private final NarrowWire wire = new NarrowWire(time);
  private final DrivenFabric fabric =
      new DrivenFabric(time, wire, FlowControl.adaptive(256, false));
  private final EmulatedDevice near = fabric.open();
  private final EmulatedDevice far = fabric.open();

  /** Limits the packets of its first port per period. */
  private static final class NarrowWire implements Wire {
    int few = 8;

    /** Longer than the timeout for an acknowledgement. */
    long whileNanos = 12_000_000;

    private final VirtualTime time;
    private final Wire wide;
    private boolean attached;
    private long begin = Long.MIN_VALUE / 2;
    private long wakes;
    private int left;
    int refused;

    NarrowWire(VirtualTime time) {
      this.time = time;
      wide = new SimulatedWire(time, FaultSchedule.none(1000));
    }

    private boolean takes() {
      if (time.now() - begin >= whileNanos) {
        begin = time.now();
        left = few;
      }
      if (left > 0) {
        left--;
        return true;
      }
      refused++;
      if (wakes != begin + whileNanos) {
        wakes = begin + whileNanos;
        time.schedule(wakes - time.now(), () -> {});
      }
      return false;
    }

    @Override
    public Port attach(Receiver receiver) {
      Port port = wide.attach(receiver);
      boolean narrow = !attached;
      attached = true;
      return new Port() {
        @Override
        public Gid gid() {
          return port.gid();
        }

        @Override
        public int sourcePort(int flow) {
          return port.sourcePort(flow);
        }

        @Override
        public Outcome send(RocePacket frame, int udpPort) {
          return narrow && !takes() ? Outcome.FULL : port.send(frame, udpPort);
        }

        @Override
        public void close() {
          port.close();
        }
      };
    }
  }

  @Test
  void whatIsToBeSentWaitsForRoomAndNothingIsSentTwice() {
    ByteBuffer bytes = ByteBuffer.allocateDirect(2 * LENGTH);
    for (int i = 0; i < LENGTH; i++) {
      bytes.put(i, (byte) (i % 251));
    }
    ByteBuffer target = ByteBuffer.allocateDirect(2 * LENGTH);
    try (CompletionQueue here = near.createCompletionQueue(16, null);
        CompletionQueue there = far.createCompletionQueue(16, null);
        ProtectionDomain domain = near.allocateProtectionDomain();
        ProtectionDomain farDomain = far.allocateProtectionDomain();
        MemoryRegion from = domain.register(bytes, EnumSet.of(Access.LOCAL_WRITE));
        MemoryRegion to =
            farDomain.register(target, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
        QueuePair one = domain.createQueuePair(QueuePairOptions.reliable(here, here, 4, 4));
        QueuePair two = domain.createQueuePair(QueuePairOptions.reliable(here, here, 4, 4));
        QueuePair peerOfOne =
            farDomain.createQueuePair(QueuePairOptions.reliable(there, there, 4, 4));
        QueuePair peerOfTwo =
            farDomain.createQueuePair(QueuePairOptions.reliable(there, there, 4, 4))) {
      DrivenFabric.connect(one, peerOfOne, far.gid(), 20, 2);
      DrivenFabric.connect(peerOfOne, one, near.gid(), 20, 2);
      DrivenFabric.connect(two, peerOfTwo, far.gid(), 20, 2);
      DrivenFabric.connect(peerOfTwo, two, near.gid(), 20, 2);
      List<QueuePair> pairs = List.of(one, two);
      for (int i = 0; i < pairs.size(); i++) {
        long offset = (long) i * LENGTH;
        pairs
            .get(i)
            .postSend(
                new SendWorkRequest(1)
                    .id(i)
                    .write(to.address() + offset, to.rkey())
                    .buffer(from.address(), LENGTH, from.lkey())
                    .signaled());
      }

      fabric.run(DEADLINE_NANOS);

      assertThat(statuses(here))
          .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
      assertThat(target.slice(0, LENGTH)).isEqualTo(bytes.slice(0, LENGTH));
      assertThat(target.slice(LENGTH, LENGTH)).isEqualTo(bytes.slice(0, LENGTH));
      assertThat(wire.refused).as("how often there was no room").isPositive();
      assertThat(count(near, Counter.RETRANSMISSIONS)).isZero();
      assertThat(count(far, Counter.OUT_OF_SEQUENCE)).isZero();
      assertThat(count(far, Counter.DUPLICATES)).isZero();
      assertThat(time.now())
          .as("about as long as the wire needs")
          .isLessThan(2 * wire.whileNanos * 2 * PACKETS / wire.few);
    } finally {
      near.close();
      far.close();
    }
  }

  /** The near end sends requests and responses; the far end misses no response meanwhile. */
  @Test
  void answersWaitForRoomBehindRequests() {
    wire.whileNanos = 1_000_000;
    // Requests and responses alternate, so with an odd number both find the wire full.
    wire.few = 7;
    ByteBuffer bytes = ByteBuffer.allocateDirect(2 * LENGTH);
    for (int i = 0; i < 2 * LENGTH; i++) {
      bytes.put(i, (byte) (i % 251));
    }
    ByteBuffer target = ByteBuffer.allocateDirect(2 * LENGTH);
    try (CompletionQueue here = near.createCompletionQueue(16, null);
        CompletionQueue there = far.createCompletionQueue(16, null);
        ProtectionDomain domain = near.allocateProtectionDomain();
        ProtectionDomain farDomain = far.allocateProtectionDomain();
        MemoryRegion from =
            domain.register(bytes, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
        MemoryRegion to =
            farDomain.register(target, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
        QueuePair one = domain.createQueuePair(QueuePairOptions.reliable(here, here, 4, 4));
        QueuePair peer = farDomain.createQueuePair(QueuePairOptions.reliable(there, there, 4, 4))) {
      DrivenFabric.connect(one, peer, far.gid(), 20, 0);
      DrivenFabric.connect(peer, one, near.gid(), 20, 0);
      peer.postSend(
          new SendWorkRequest(1)
              .read(from.address(), from.rkey())
              .buffer(to.address(), LENGTH, to.lkey())
              .signaled());
      one.postSend(
          new SendWorkRequest(1)
              .write(to.address() + LENGTH, to.rkey())
              .buffer(from.address() + LENGTH, LENGTH, from.lkey())
              .signaled());

      fabric.run(DEADLINE_NANOS);

      assertThat(statuses(here)).containsExactly(CompletionStatus.SUCCESS);
      assertThat(statuses(there)).containsExactly(CompletionStatus.SUCCESS);
      assertThat(target).isEqualTo(bytes);
      assertThat(wire.refused).as("how often there was no room").isPositive();
      assertThat(fabric.port(near).counters().of(Reason.NOT_SENT)).as("lost").isZero();
      assertThat(count(near, Counter.RETRANSMISSIONS)).isZero();
      assertThat(count(far, Counter.RETRANSMISSIONS)).isZero();
      assertThat(count(far, Counter.OUT_OF_SEQUENCE)).isZero();
    } finally {
      near.close();
      far.close();
    }
  }

  private static List<CompletionStatus> statuses(CompletionQueue queue) {
    WorkCompletion[] done = WorkCompletion.array(16);
    int count = queue.poll(done);
    List<CompletionStatus> statuses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      statuses.add(done[i].status());
    }
    return statuses;
  }

  private static long count(Device device, Counter counter) {
    return device.counters().get(counter);
  }
}
