// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An exception in one engine stops that engine's queue pair once, and no other. */
class EngineFailureTest {
  private static final long DEADLINE_NANOS = 60_000_000_000L;
  private static final int REQUESTS = 3;

  private final VirtualTime time = new VirtualTime();
  private final BrokenWire wire = new BrokenWire(new SimulatedWire(time, FaultSchedule.none(1000)));
  private final DrivenFabric fabric = new DrivenFabric(time, wire, FlowControl.FIXED);
  private final EmulatedDevice device = fabric.open();
  private final EmulatedProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue completions = device.createCompletionQueue(64, null);
  private final List<QueuePair> pairs = new ArrayList<>();
  private final List<Throwable> thrown = new ArrayList<>();

  /** A wire that throws when a packet is sent to one queue pair. */
  private static final class BrokenWire implements Wire {
    private final Wire sound;
    int broken = -1;

    BrokenWire(Wire sound) {
      this.sound = sound;
    }

    @Override
    public Port attach(Receiver receiver) {
      Port port = sound.attach(receiver);
      return new Port() {
        @Override
        public Gid gid() {
          return port.gid();
        }

        @Override
        public RocePacket packet() {
          return port.packet();
        }

        @Override
        public int sourcePort(int flow) {
          return port.sourcePort(flow);
        }

        @Override
        public Outcome send(RocePacket frame, int udpPort) {
          if (frame.destinationQueuePair() == broken) {
            throw new IllegalStateException("a mistake");
          }
          return port.send(frame, udpPort);
        }

        @Override
        public void close() {
          port.close();
        }
      };
    }
  }

  @BeforeEach
  void connect() {
    for (int i = 0; i < 4; i++) {
      pairs.add(
          domain.createQueuePair(QueuePairOptions.reliable(completions, completions, 16, 16)));
    }
    for (int i = 0; i < 4; i++) {
      DrivenFabric.connect(pairs.get(i), pairs.get(i ^ 1), device.gid(), 12, 2);
    }
  }

  @AfterEach
  void close() {
    wire.broken = -1;
    pairs.forEach(QueuePair::close);
    completions.close();
    domain.close();
    device.close();
  }

  @Test
  void theGuiltyOneGoesToErrorAndTheOthersGoOn() throws InterruptedException {
    QueuePair guilty = pairs.get(0);
    QueuePair innocent = pairs.get(2);
    wire.broken = pairs.get(1).number();
    // All requests wait for the same turn, those of the faulty engine first.
    for (int i = 0; i < REQUESTS; i++) {
      guilty.postSend(new SendWorkRequest(1).id(i).write(0, 0).signaled());
    }
    innocent.postSend(new SendWorkRequest(1).id(REQUESTS).write(0, 0).signaled());

    run();

    WorkCompletion[] found = WorkCompletion.array(16);
    int count = completions.poll(found);
    assertThat(guilty.state()).isEqualTo(QueuePairState.ERR);
    assertThat(innocent.state()).isEqualTo(QueuePairState.RTS);
    assertThat(count).isEqualTo(REQUESTS + 1);
    for (int i = 0; i < count; i++) {
      assertThat(found[i].status())
          .as("request %d", found[i].workRequestId())
          .isEqualTo(
              found[i].queuePairNumber() == guilty.number()
                  ? CompletionStatus.WR_FLUSH_ERR
                  : CompletionStatus.SUCCESS);
    }
    assertThat(thrown).as("what the driver was told").hasSize(1);
    AsyncEvent event = device.awaitAsyncEvent(0);
    while (event != null && event.type() != AsyncEvent.Type.QP_FATAL) {
      event = device.awaitAsyncEvent(0);
    }
    assertThat(event).as("the program is told").isNotNull();
    assertThat(event.source()).isSameAs(guilty);
  }

  @Test
  void whoCannotAnswerGoesToErrorToo() {
    QueuePair asking = pairs.get(0);
    QueuePair answering = pairs.get(1);
    wire.broken = asking.number();
    asking.postSend(new SendWorkRequest(1).id(1).write(0, 0).signaled());

    run();

    assertThat(answering.state()).isEqualTo(QueuePairState.ERR);
    assertThat(asking.state()).as("its peer is silent").isEqualTo(QueuePairState.ERR);
    assertThat(thrown).hasSize(1);
  }

  /** Drives the fabric as its drivers do, until nothing is left to do. */
  private void run() {
    while (time.now() < DEADLINE_NANOS) {
      fabric.enter();
      try {
        if (!time.runDue() && !fabric.serve() && !time.advance(DEADLINE_NANOS)) {
          return;
        }
      } catch (IllegalStateException e) {
        thrown.add(e);
        assertThat(thrown).as("one mistake, and no end of it").hasSizeLessThan(10);
      } finally {
        fabric.leave();
      }
    }
  }
}
