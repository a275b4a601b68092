// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Packets that a ConnectX-4 and the kernel's rxe sent. */
class GoldenPacketsTest {
  private static final String NOTIFICATION =
      "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000"
          + "00000000000000000000000000000000"
          + "82fd002a";
  private static final String ACK =
      "4500003012774000401113aa0a4d00020a4d0001d1dd12b7001c00001100ffff0000020000fa513f1f000002"
          + "e148c633";

  private final RocePacket frame = new RocePacket();

  @Test
  void readsTheCongestionNotificationOfAnRnic() {
    assertThat(load(NOTIFICATION)).isEqualTo(PacketFault.NONE);

    assertThat(frame.opcode()).isEqualTo(PacketOpcode.CONGESTION_NOTIFICATION);
    assertThat(frame.typeOfService()).isEqualTo(0xc2);
    assertThat(frame.identification()).isEqualTo(0x718c);
    assertThat(frame.timeToLive()).isEqualTo(64);
    assertThat(frame.sourceAddress()).isEqualTo(0x0a001101);
    assertThat(frame.destinationAddress()).isEqualTo(0x0a001201);
    assertThat(frame.sourcePort()).isZero();
    assertThat(frame.backwardCongestion()).isTrue();
    assertThat(frame.forwardCongestion()).isFalse();
    assertThat(frame.destinationQueuePair()).isEqualTo(0x118);
    assertThat(frame.psn()).isZero();
    assertThat(frame.payloadLength()).isZero();
  }

  @Test
  void writesTheCongestionNotificationOfAnRnic() {
    frame
        .start(PacketOpcode.CONGESTION_NOTIFICATION)
        .addresses(0x0a001101, 0x0a001201)
        .typeOfService(0xc2)
        .identification(0x718c)
        .sourcePort(0)
        .backwardCongestion(true)
        .destinationQueuePair(0x118)
        .seal();

    assertThat(written()).isEqualTo(NOTIFICATION);
  }

  @Test
  void readsAnAckOfSoftRoce() {
    assertThat(load(ACK)).isEqualTo(PacketFault.NONE);

    assertThat(frame.opcode()).isEqualTo(PacketOpcode.RC_ACKNOWLEDGE);
    assertThat(frame.sourcePort()).isEqualTo(0xd1dd);
    assertThat(frame.partitionKey()).isEqualTo(0xffff);
    assertThat(frame.destinationQueuePair()).isEqualTo(0x200);
    assertThat(frame.ackRequested()).isFalse();
    assertThat(frame.psn()).isEqualTo(0xfa513f);
    assertThat(Aeth.isAck(frame.syndrome())).isTrue();
    assertThat(Aeth.value(frame.syndrome())).isEqualTo(Aeth.UNLIMITED_CREDITS);
    assertThat(frame.messageSequence()).isEqualTo(2);
  }

  @Test
  void writesAnAckOfSoftRoce() {
    frame
        .start(PacketOpcode.RC_ACKNOWLEDGE)
        .addresses(0x0a4d0002, 0x0a4d0001)
        .identification(0x1277)
        .sourcePort(0xd1dd)
        .destinationQueuePair(0x200)
        .psn(0xfa513f)
        .syndrome(Aeth.ack(Aeth.UNLIMITED_CREDITS))
        .messageSequence(2)
        .seal();

    assertThat(written()).isEqualTo(ACK);
  }

  @Test
  void findsTheIdentificationThatASocketDoesNotShow() {
    byte[] packet = HexFormat.of().parseHex(ACK);
    int received = packet.length - RocePacket.UDP_PAYLOAD_OFFSET;
    frame.udpSpace().put(packet, RocePacket.UDP_PAYLOAD_OFFSET, received);

    assertThat(frame.parseUdp(received, 0x0a4d0002, 0xd1dd, 0x0a4d0001))
        .isEqualTo(PacketFault.NONE);

    assertThat(frame.identification()).isEqualTo(0x1277);
    assertThat(written()).isEqualTo(ACK);
  }

  private PacketFault load(String hex) {
    byte[] packet = HexFormat.of().parseHex(hex);
    return frame.load(packet, 0, packet.length);
  }

  private String written() {
    return HexFormat.of().formatHex(frame.bytes().array(), 0, frame.length());
  }
}
