// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static io.verbena.verbs.CompletionStatus.RETRY_EXC_ERR;
import static io.verbena.verbs.CompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Many queue pairs send to one receiver, whose socket buffer holds a limited number of packets. */
class PeerWindowsTest {
  private static final long DEADLINE_NANOS = 600_000_000_000L;

  /** Packets that fit in the receiver's buffer. */
  private static final int BUFFERED = 256;

  /** Time that the receiver needs per packet. */
  private static final long SERVICE_NANOS = 2_000;

  private static final int TIMEOUT = 20;
  private static final long TIMEOUT_NANOS = 4096L << TIMEOUT;

  private final VirtualTime time = new VirtualTime();
  private final BufferedWire wire = new BufferedWire();
  private final DrivenFabric fabric =
      new DrivenFabric(time, wire, FlowControl.adaptive(BUFFERED, false));
  private final EmulatedDevice near = fabric.open();
  private final EmulatedDevice far = fabric.open();

  /** A wire whose receivers have limited buffers and drop packets that do not fit. */
  private final class BufferedWire implements Wire {
    private final Wire wide = new SimulatedWire(time, FaultSchedule.none(1000));
    int dropped;

    @Override
    public Port attach(Receiver receiver) {
      Queue<RocePacket> buffer = new ArrayDeque<>();
      return wide.attach(
          (frame, fault) -> {
            if (buffer.size() == BUFFERED) {
              dropped++;
              return;
            }
            buffer.add(new RocePacket().copyFrom(frame));
            if (buffer.size() == 1) {
              time.schedule(SERVICE_NANOS, () -> serve(buffer, receiver));
            }
          });
    }

    private void serve(Queue<RocePacket> buffer, Receiver receiver) {
      RocePacket frame = buffer.element();
      PacketFault fault = frame.parse();
      receiver.receive(frame, fault);
      buffer.remove();
      if (!buffer.isEmpty()) {
        time.schedule(SERVICE_NANOS, () -> serve(buffer, receiver));
      }
    }
  }

  @AfterEach
  void close() {
    near.close();
    far.close();
  }

  @Test
  void withoutAWindowThatTheyShareQueuePairsOverrunTheReceiver() {
    writeFrom(64, 200);

    assertThat(wire.dropped).isGreaterThan(100);
    assertThat(retransmissions()).isGreaterThan(64);
  }

  @Test
  void queuePairsThatShareAWindowDoNotOverrunTheReceiver() {
    limit();

    writeFrom(64, 200);

    assertThat(wire.dropped).isZero();
    assertThat(retransmissions()).isZero();
    assertThat(time.now())
        .as("the receiver was busy all the time")
        .isLessThan(64 * 200 * SERVICE_NANOS * 3 / 2);
  }

  @Test
  void moreQueuePairsThanTheBufferHoldsPacketsDoNotOverrunTheReceiver() {
    limit();

    writeFrom(1000, 40);

    assertThat(wire.dropped).isZero();
    assertThat(retransmissions()).isZero();
    assertThat(time.now())
        .as("the receiver was busy all the time")
        .isLessThan(1000 * 40 * SERVICE_NANOS * 3 / 2);
    assertThat(fabric.port(near).counters().packetsReceived())
        .as("acknowledgements, each of several packets")
        .isLessThan(1000 * 40 / 2);
  }

  @Test
  void aQueuePairThatComesLaterGetsItsShare() {
    limit();
    try (Writers writers = new Writers(5)) {
      writers.post(0, 2_000);
      writers.post(1, 2_000);
      fabric.run(time.now() + 50 * SERVICE_NANOS);
      for (int i = 2; i < 5; i++) {
        writers.post(i, 20);
      }
      fabric.run(DEADLINE_NANOS);

      assertThat(writers.ended(SUCCESS).subList(0, 3)).containsExactlyInAnyOrder(2, 3, 4);
    }
  }

  @Test
  void whatIsSharedIsFreeAgainWhenQueuePairsClose() {
    limit();
    for (int i = 0; i < 3; i++) {
      writeFrom(40, 100);
      assertThatTheWindowIsFree();
    }
  }

  @Test
  void whatIsSharedIsFreeAgainWhenQueuePairsCloseThatHaveTheirTurnsOrWait() {
    limit();
    try (Writers writers = new Writers(200)) {
      for (int i = 0; i < 200; i++) {
        writers.post(i, 40);
      }
      fabric.run(time.now() + 50 * SERVICE_NANOS);
      assertThat(window("first")).as("the queue pair that waits longest").isNotNull();
    }

    assertThatTheWindowIsFree();
  }

  @Test
  void queuePairsWhosePeersAreGoneDoNotKeepOthersOut() {
    limit();
    try (Writers writers = new Writers(400)) {
      for (int i = 0; i < 200; i++) {
        writers.peers.get(i).close();
        writers.post(i, 40);
      }
      fabric.run(time.now() + 50 * SERVICE_NANOS);
      for (int i = 200; i < 400; i++) {
        writers.post(i, 40);
      }

      fabric.run(time.now() + TIMEOUT_NANOS / 2);
      assertThat(writers.ended(SUCCESS)).hasSize(200);
      fabric.run(DEADLINE_NANOS);
      assertThat(writers.ended(RETRY_EXC_ERR)).hasSize(200);
      assertThatTheWindowIsFree();
    }
  }

  private void assertThatTheWindowIsFree() {
    assertThat(window("taken")).isEqualTo(0);
    assertThat(window("first")).as("the queue pair that waits longest").isNull();
  }

  private @Nullable Object window(String field) {
    return assertThat(fabric.port(near).window(AddressVector.to(far.gid())))
        .extracting(field)
        .actual();
  }

  private long retransmissions() {
    Device device = near;
    return device.counters().get(Counter.RETRANSMISSIONS);
  }

  private void limit() {
    fabric.port(near).limit(new PeerWindows(BUFFERED / 2));
    fabric.port(far).limit(new PeerWindows(BUFFERED / 2));
  }

  /** Makes this many queue pairs write once each. */
  private void writeFrom(int queuePairs, int packets) {
    try (Writers writers = new Writers(queuePairs)) {
      for (int i = 0; i < queuePairs; i++) {
        writers.post(i, packets);
      }
      fabric.run(DEADLINE_NANOS);
      assertThat(writers.ended(SUCCESS)).doesNotHaveDuplicates().hasSize(queuePairs);
    }
  }

  /** Queue pairs at the near device, each connected to its own peer at the receiver. */
  private final class Writers implements AutoCloseable {
    private static final int LENGTH = 2_000 * DrivenFabric.PAYLOAD;

    private final int count;
    private final CompletionQueue done;
    private final CompletionQueue unused = far.createCompletionQueue(1, null);
    private final ProtectionDomain domain = near.allocateProtectionDomain();
    private final ProtectionDomain farDomain = far.allocateProtectionDomain();
    private final MemoryRegion from =
        domain.register(ByteBuffer.allocateDirect(LENGTH), EnumSet.of(Access.LOCAL_WRITE));
    private final MemoryRegion to =
        farDomain.register(
            ByteBuffer.allocateDirect(LENGTH), EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
    private final List<QueuePair> pairs = new ArrayList<>();
    final List<QueuePair> peers = new ArrayList<>();

    Writers(int count) {
      this.count = count;
      done = near.createCompletionQueue(count, null);
      for (int i = 0; i < count; i++) {
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(done, done, 1, 1));
        QueuePair peer = farDomain.createQueuePair(QueuePairOptions.reliable(unused, unused, 1, 1));
        DrivenFabric.connect(pair, peer, far.gid(), TIMEOUT, 7);
        DrivenFabric.connect(peer, pair, near.gid(), TIMEOUT, 7);
        pairs.add(pair);
        peers.add(peer);
      }
    }

    void post(int writer, int packets) {
      pairs
          .get(writer)
          .postSend(
              new SendWorkRequest(1)
                  .id(writer)
                  .write(to.address(), to.rkey())
                  .buffer(from.address(), packets * DrivenFabric.PAYLOAD, from.lkey())
                  .signaled());
    }

    /** Returns the writers that have completed since the last call, in order of completion. */
    List<Integer> ended(CompletionStatus expected) {
      WorkCompletion[] completions = WorkCompletion.array(count);
      List<Integer> ended = new ArrayList<>();
      for (int i = 0, found = done.poll(completions); i < found; i++) {
        assertThat(completions[i].status()).isEqualTo(expected);
        ended.add((int) completions[i].workRequestId());
      }
      return ended;
    }

    @Override
    public void close() {
      pairs.forEach(QueuePair::close);
      peers.forEach(QueuePair::close);
      from.close();
      to.close();
      domain.close();
      farDomain.close();
      done.close();
      unused.close();
    }
  }
}
