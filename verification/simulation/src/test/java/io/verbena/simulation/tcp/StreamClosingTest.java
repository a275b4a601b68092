// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.iwarp.IwarpQueuePair;
import io.verbena.emulated.iwarp.StreamUser;
import io.verbena.emulated.iwarp.TcpStream;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.iwarp.stream.StreamTerms;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how a stream to a peer that no longer reads is closed. */
@Tag("once")
class StreamClosingTest {
  private static final long LATENCY = 1000;
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1000 * MILLI;

  /** The byte, in the second SEND, from which all bytes are delayed beyond any timeout. */
  private static final int HELD_FROM = 2000;

  private static final long HELD_FOR = 100 * SECOND;

  private static final int LENGTH = 1000;
  private static final int SENDS = 64;

  /** The number of posted receives: one for each SEND of which bytes arrive. */
  private static final int RECEIVES = 2;

  /** The byte that the next user of freed memory writes into it. */
  private static final byte OTHERS = 0x5a;

  private final SimulatedTcp tcp =
      new SimulatedTcp(
          3,
          new FaultSchedule(
              LATENCY,
              List.of(
                  new Fault(
                      Fault.Kind.DELAY,
                      0,
                      1,
                      0,
                      Long.MAX_VALUE,
                      HELD_FROM,
                      Fault.ALWAYS,
                      HELD_FOR,
                      0))),
          new Unwatched());
  private final End active = new End();
  private final End passive = new End();

  @Test
  void isOverInTimeHoweverMuchIsPosted() {
    connect();
    TcpStream stream = Objects.requireNonNull(active.stream);
    for (int i = 0; i < SENDS; i++) {
      active.post();
    }
    runUntil(tcp.clock().now() + SECOND);
    assertThat(active.pair.state()).isEqualTo(QueuePairState.RTS);

    long failed = tcp.clock().now();
    active.pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    while (tcp.isOpen(stream) && tcp.clock().now() < failed + 10 * SECOND) {
      active.post();
      runUntil(tcp.clock().now() + 100 * MILLI);
    }

    assertThat(active.endedAt).as("its program is told at once").isBetween(failed, failed + MILLI);
    assertThat(tcp.clock().now() - failed)
        .as("a part of a segment waits for the peer, for a while")
        .isBetween(SECOND, 3 * SECOND);
  }

  /** The engine may serve a queue pair between its move to ERR and the turn that flushes it. */
  @Test
  void takesNothingMoreOnceItIsServedInErr() {
    connect();
    active.post();
    active.post();
    runUntil(tcp.clock().now() + SECOND);
    assertThat(passive.received).containsExactly(CompletionStatus.SUCCESS);

    assertThat(passive.pair.moveToError()).isTrue();
    passive.pair.ring();
    runUntil(tcp.clock().now() + SECOND);
    passive.overwrite();
    runUntil(tcp.clock().now() + 2 * HELD_FOR);

    assertThat(passive.received)
        .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.WR_FLUSH_ERR);
    assertThat(passive.isOverwritten()).isTrue();
    assertThat(passive.endedAt).isBetween(0L, HELD_FOR);
  }

  private void connect() {
    StreamTerms terms = new StreamTerms(false, 1, 1, StreamTerms.Role.ACTIVE_WRITES_FIRST);
    MpaFrame request = frame(MpaFrame.Kind.REQUEST);
    active.stream = tcp.connect(0, 0, 1, request, active, passive);
    runUntil(SECOND / 2);
    passive.connect(new StreamTerms(false, 1, 1, StreamTerms.Role.PASSIVE), QueuePairState.RTR);
    tcp.call(() -> Objects.requireNonNull(passive.stream).answer(frame(MpaFrame.Kind.REPLY)));
    runUntil(SECOND);
    active.connect(terms, QueuePairState.RTS);
  }

  private static MpaFrame frame(MpaFrame.Kind kind) {
    return new MpaFrame(
        kind,
        MpaFrame.ENHANCED_REVISION,
        false,
        false,
        false,
        MpaFrame.Depths.of(1, 1).readyByWrite(),
        ByteBuffer.allocate(0));
  }

  private void runUntil(long moment) {
    tcp.clock().schedule(moment - tcp.clock().now(), () -> {});
    while (tcp.clock().now() < moment && tcp.step()) {
      active.poll();
      passive.poll();
    }
  }

  /** An end of the connection. */
  private final class End implements StreamUser, TcpStream.Asked {
    private final Device device = tcp.open();
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final CompletionQueue queue = device.createCompletionQueue(4 * SENDS, null);
    private final ByteBuffer memory = ByteBuffer.allocateDirect(LENGTH);
    private final MemoryRegion region = domain.register(memory, EnumSet.of(Access.LOCAL_WRITE));
    private final WorkCompletion[] batch = WorkCompletion.array(16);
    private final IwarpQueuePair pair =
        (IwarpQueuePair)
            domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 2 * SENDS, RECEIVES));
    private final List<CompletionStatus> received = new ArrayList<>();
    private @Nullable TcpStream stream;
    private long endedAt = -1;

    private void connect(StreamTerms terms, QueuePairState to) {
      pair.modify(
          new QueuePairAttributes()
              .state(QueuePairState.INIT)
              .pkeyIndex(0)
              .port(1)
              .access(EnumSet.noneOf(Access.class)));
      for (int i = 0; i < RECEIVES; i++) {
        pair.postReceive(new ReceiveWorkRequest(1).buffer(region.address(), LENGTH, region.lkey()));
      }
      pair.connect(Objects.requireNonNull(stream), terms, to, new QueuePairAttributes());
    }

    private void post() {
      pair.postSend(
          new SendWorkRequest(1).send().signaled().buffer(region.address(), LENGTH, region.lkey()));
    }

    private void poll() {
      for (int count = queue.poll(batch); count > 0; count = queue.poll(batch)) {
        for (int i = 0; i < count; i++) {
          if (batch[i].opcode() == CompletionOpcode.RECV) {
            received.add(batch[i].status());
          }
        }
      }
    }

    private void overwrite() {
      for (int i = 0; i < LENGTH; i++) {
        memory.put(i, OTHERS);
      }
    }

    private boolean isOverwritten() {
      return IntStream.range(0, LENGTH).allMatch(i -> memory.get(i) == OTHERS);
    }

    @Override
    public void requested(TcpStream asking, MpaFrame request) {
      stream = asking;
      asking.offeredTo(this);
    }

    @Override
    public void ended() {
      endedAt = tcp.clock().now();
    }

    @Override
    public void withdrawn(TcpStream asking) {}

    @Override
    public void accepted(MpaFrame reply) {}

    @Override
    public void refused(MpaFrame reply) {}

    @Override
    public void nobodyListens() {}

    @Override
    public void failed(int errno) {}

    @Override
    public void established() {}
  }

  private static final class Unwatched implements SimulatedTcp.Tap {
    @Override
    public void sent(long now, int source, int destination, int first, int length) {}

    @Override
    public void struck(long now, int connection, Fault fault, boolean ends) {}
  }
}
