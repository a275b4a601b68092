// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RocePacketTest {
  private final RocePacket frame = new RocePacket();

  @Test
  void forgetsThePacketBefore() {
    new RandomPacket(PacketOpcode.RC_WRITE_ONLY_IMMEDIATE, new Random(1)).write(frame);

    frame.start(PacketOpcode.RC_WRITE_ONLY_IMMEDIATE).seal();

    assertThat(frame.remoteAddress()).isZero();
    assertThat(frame.immediate()).isZero();
    assertThat(frame.psn()).isZero();
    assertThat(frame.ackRequested()).isFalse();
    assertThat(frame.payloadLength()).isZero();
    assertThat(frame.partitionKey()).isEqualTo(0xffff);
    assertThat(frame.sourcePort()).isEqualTo(RocePacket.DEFAULT_SOURCE_PORT);
    assertThat(frame.timeToLive()).isEqualTo(64);
  }

  @Test
  void padsWithZeroesWhateverWasThere() {
    ByteBuffer ones = ByteBuffer.wrap(new byte[] {-1, -1, -1, -1});
    frame.start(PacketOpcode.RC_SEND_ONLY).append(ones, 0, 4).seal();

    frame.start(PacketOpcode.RC_SEND_ONLY).append(ones, 0, 1).seal();

    assertThat(frame.pad()).isEqualTo(3);
    int at = frame.payloadOffset();
    assertThat(Arrays.copyOfRange(frame.bytes().array(), at, at + 4)).containsExactly(-1, 0, 0, 0);
  }

  @Test
  void sealsAgainAfterAChange() {
    frame.start(PacketOpcode.RC_SEND_ONLY).psn(1).seal();

    frame.psn(2);
    assertThat(frame.parse()).isEqualTo(PacketFault.ICRC);

    frame.seal();
    assertThat(frame.parse()).isEqualTo(PacketFault.NONE);
    assertThat(frame.psn()).isEqualTo(2);
  }

  @Test
  void refusesMorePayloadThanTheLargestMtu() {
    ByteBuffer payload = ByteBuffer.allocate(RocePacket.MAX_PAYLOAD + 1);
    frame.start(PacketOpcode.RC_SEND_ONLY).append(payload, 0, RocePacket.MAX_PAYLOAD - 1);

    assertThatThrownBy(() -> frame.append(payload, 0, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("payload of RC_SEND_ONLY: 2 (expected: 0 to 1)");
  }

  @Test
  void refusesPayloadInAnAck() {
    frame.start(PacketOpcode.RC_ACKNOWLEDGE);

    assertThatThrownBy(() -> frame.append(ByteBuffer.allocate(1), 0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("payload of RC_ACKNOWLEDGE: 1 (expected: 0 to 0)");
  }

  @Test
  void refusesAFieldThatTheOpcodeHasNot() {
    frame.start(PacketOpcode.RC_SEND_ONLY);

    assertThatThrownBy(() -> frame.immediate(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("IMM_DT: not in RC_SEND_ONLY");
    assertThatThrownBy(frame::remoteKey)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("remote address: not in RC_SEND_ONLY");
  }

  @Test
  void refusesToCopyBeyondThePayload() {
    frame.start(PacketOpcode.RC_SEND_ONLY).append(ByteBuffer.allocate(5), 0, 5).seal();

    assertThatThrownBy(() -> frame.copyPayload(2, ByteBuffer.allocate(8), 0, 4))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void allocatesNothingForAPacket() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    RocePacket other = new RocePacket();
    ByteBuffer memory = ByteBuffer.allocateDirect(1024);
    PacketFault[] fault = new PacketFault[1];
    Runnable packet =
        () -> {
          frame.start(PacketOpcode.RC_WRITE_ONLY).addresses(1, 2).psn(3).append(memory, 0, 1024);
          other.copyFrom(frame.seal());
          fault[0] = other.parse();
          other.copyPayload(0, memory, 0, 1024);
          int length = frame.udpPayload().remaining();
          other.udpSpace();
          fault[0] = other.parseUdp(length, 1, RocePacket.DEFAULT_SOURCE_PORT, 2);
        };
    for (int i = 0; i < 100; i++) {
      packet.run();
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 10_000; i++) {
      packet.run();
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(fault[0]).isEqualTo(PacketFault.NONE);
    // Measuring may allocate a few bytes itself; one object per packet would be 160,000 bytes.
    assertThat(allocated).isLessThan(10_000);
  }
}
