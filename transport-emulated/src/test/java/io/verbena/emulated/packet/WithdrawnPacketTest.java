// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.Gid;
import org.junit.jupiter.api.Test;

/** A packet waits for room, and its payload is withdrawn meanwhile. */
class WithdrawnPacketTest {
  private static final Gid HERE = UdpGid.of(0x0a00_0001, RocePacket.UDP_PORT);
  private static final Gid THERE = UdpGid.of(0x0a00_0002, RocePacket.UDP_PORT);
  private static final int QUEUE_PAIR = 17;

  private final VirtualTime time = new VirtualTime();
  private final DrivenFabric fabric =
      new DrivenFabric(time, new SimulatedWire(time, FaultSchedule.none(1000)), FlowControl.FIXED);
  private final FullPort full = new FullPort();
  private final PacketPort port = new PacketPort(fabric, receiver -> full);

  private static final class FullPort implements Wire.Port {
    int dropped;

    @Override
    public Gid gid() {
      return HERE;
    }

    @Override
    public RocePacket packet() {
      return RocePacket.unchecked();
    }

    @Override
    public int sourcePort(int flow) {
      return flow;
    }

    @Override
    public Wire.Outcome send(RocePacket frame, int udpPort) {
      return Wire.Outcome.FULL;
    }

    @Override
    public void dropped() {
      dropped++;
    }

    @Override
    public void close() {}
  }

  @Test
  void needsNoRoomAnyMore() {
    RocePacket frame =
        port.packet().start(PacketOpcode.RC_SEND_ONLY).destinationQueuePair(2).psn(1);
    frame.reference().place(1, 0, 0x4711);
    frame.reference().queuePair(QUEUE_PAIR);
    frame.refer(8192);
    port.send(frame, THERE);

    port.withdraw(QUEUE_PAIR + 1);
    assertThat(port.isFull()).isTrue();
    assertThat(full.dropped).isZero();
    port.withdraw(QUEUE_PAIR);

    assertThat(port.isFull()).isFalse();
    assertThat(full.dropped).isEqualTo(1);
  }
}
