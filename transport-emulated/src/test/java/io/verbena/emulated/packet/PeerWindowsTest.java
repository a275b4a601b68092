// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.FrameFault;
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
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Many queue pairs send to one receiver, of which the socket's buffer holds some packets. */
class PeerWindowsTest {
  private static final long DEADLINE_NANOS = 600_000_000_000L;

  /** Packets that the receiver's buffer holds. */
  private static final int BUFFERED = 256;

  /** What the receiver takes for a packet. */
  private static final long SERVICE_NANOS = 2_000;

  private final VirtualTime time = new VirtualTime();
  private final BufferedWire wire = new BufferedWire();
  private final Driven fabric = new Driven();
  private final EmulatedDevice near = open();
  private final EmulatedDevice far = open();

  /** A wire whose receivers have buffers, and drop what does not fit. */
  private final class BufferedWire implements Wire {
    private final Wire wide = new SimulatedWire(time, FaultSchedule.none(1000));
    int dropped;

    @Override
    public Port attach(Receiver receiver) {
      Queue<Frame> buffer = new ArrayDeque<>();
      return wide.attach(
          (frame, fault) -> {
            if (buffer.size() == BUFFERED) {
              dropped++;
              return;
            }
            buffer.add(new Frame().copyFrom(frame));
            if (buffer.size() == 1) {
              time.schedule(SERVICE_NANOS, () -> serve(buffer, receiver));
            }
          });
    }

    private void serve(Queue<Frame> buffer, Receiver receiver) {
      Frame frame = buffer.element();
      FrameFault fault = frame.parse();
      receiver.receive(frame, fault);
      buffer.remove();
      if (!buffer.isEmpty()) {
        time.schedule(SERVICE_NANOS, () -> serve(buffer, receiver));
      }
    }
  }

  private final class Driven extends PacketFabric {
    Driven() {
      super(new Secrets(new SplittableRandom(7)), PeerWindowsTest.this.time, wire);
    }

    @Override
    protected FlowControl flowControl() {
      return FlowControl.adaptive(BUFFERED);
    }

    @Override
    public void wake() {}

    @Override
    public void schedule(EmulatedDevice device, Runnable task, long delayNanos) {
      time.schedule(delayNanos, task);
    }
  }

  private EmulatedDevice open() {
    return EmulatedDevice.open(fabric, DeviceLimits.FULL, new LocalConnectionManagers());
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

  /** Each has a packet out beside those of the window: together not more than the buffer holds. */
  @Test
  void almostAsManyQueuePairsAsTheWindowHasPacketsDoNotOverrunTheReceiver() {
    limit();

    writeFrom(120, 20);

    assertThat(wire.dropped).isZero();
    assertThat(retransmissions()).isZero();
  }

  @Test
  void eachOfMoreQueuePairsThanTheBufferHoldsPacketsGetsOn() {
    limit();

    writeFrom(2 * BUFFERED, 4);
  }

  @Test
  void aQueuePairThatComesLaterGetsItsShare() {
    limit();
    List<Integer> ends = writeFrom(2, 2_000, 2_000, 20, 20, 20);

    assertThat(ends.subList(0, 3)).containsExactlyInAnyOrder(2, 3, 4);
  }

  @Test
  void whatIsSharedIsFreeAgainWhenQueuePairsClose() {
    limit();
    int window = BUFFERED / 2;
    for (int i = 0; i < 3; i++) {
      writeFrom(40, 100);
      assertThat(fabric.port(near).window(AddressVector.to(far.gid())))
          .extracting("out", "active", "most")
          .containsExactly(0, 0, window);
    }
  }

  private long retransmissions() {
    Device device = near;
    return device.counters().get(Counter.RETRANSMISSIONS);
  }

  private void limit() {
    fabric.port(near).limit(new PeerWindows(BUFFERED / 2));
    fabric.port(far).limit(new PeerWindows(BUFFERED / 2));
  }

  private void writeFrom(int queuePairs, int packets) {
    int[] each = new int[queuePairs];
    Arrays.fill(each, packets);
    assertThat(new HashSet<>(writeFrom(0, each))).hasSize(queuePairs);
  }

  /**
   * Has each of some queue pairs write once, all of which succeed.
   *
   * @param headStart so many of them begin first
   * @param packets of each
   * @return the queue pairs, in the order in which they ended
   */
  private List<Integer> writeFrom(int headStart, int... packets) {
    int most = Arrays.stream(packets).max().orElseThrow() * 256;
    List<Integer> ended = new ArrayList<>();
    try (CompletionQueue done = near.createCompletionQueue(packets.length, null);
        CompletionQueue unused = far.createCompletionQueue(1, null);
        ProtectionDomain domain = near.allocateProtectionDomain();
        ProtectionDomain farDomain = far.allocateProtectionDomain();
        MemoryRegion from =
            domain.register(ByteBuffer.allocateDirect(most), EnumSet.of(Access.LOCAL_WRITE));
        MemoryRegion to =
            farDomain.register(
                ByteBuffer.allocateDirect(most),
                EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE))) {
      List<QueuePair> pairs = new ArrayList<>();
      Set<QueuePair> open = new HashSet<>();
      for (int i = 0; i < packets.length; i++) {
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(done, done, 1, 1));
        QueuePair peer = farDomain.createQueuePair(QueuePairOptions.reliable(unused, unused, 1, 1));
        connect(pair, peer, far.gid());
        connect(peer, pair, near.gid());
        pairs.add(pair);
        open.add(pair);
        open.add(peer);
      }
      for (int i = 0; i < packets.length; i++) {
        if (i == headStart) {
          run(time.now() + 50 * SERVICE_NANOS);
        }
        pairs
            .get(i)
            .postSend(
                new SendWorkRequest(1)
                    .id(i)
                    .write(to.address(), to.rkey())
                    .buffer(from.address(), packets[i] * 256, from.lkey())
                    .signaled());
      }
      run(DEADLINE_NANOS);
      WorkCompletion[] completions = WorkCompletion.array(packets.length);
      int count = done.poll(completions);
      for (int i = 0; i < count; i++) {
        assertThat(completions[i].status()).isEqualTo(CompletionStatus.SUCCESS);
        ended.add((int) completions[i].workRequestId());
      }
      open.forEach(QueuePair::close);
    }
    return ended;
  }

  private void run(long until) {
    fabric.enter();
    try {
      boolean more = true;
      while (more) {
        more = time.runDue() || fabric.serve() || time.advance(until);
      }
    } finally {
      fabric.leave();
    }
  }

  private static void connect(QueuePair pair, QueuePair to, Gid gid) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.of(Access.REMOTE_WRITE)));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(gid))
            .pathMtu(Mtu.MTU_256)
            .destinationQueuePair(to.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(1));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(20)
            .retryCount(7)
            .rnrRetry(1)
            .sendPsn(1)
            .maxReadAtomic(1));
  }
}
