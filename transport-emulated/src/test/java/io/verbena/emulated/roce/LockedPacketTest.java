// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The peer opens a sealed packet as it was written, or not at all. */
class LockedPacketTest {
  private static final int ROUNDS = 100;
  private static final SharedSecret KEY = SharedSecret.of(new byte[32]);
  private static final byte[] NOTHING = new byte[0];

  private final PacketCipher sender = SessionKeys.of(KEY, true, NOTHING, NOTHING).packets();
  private final PacketCipher receiver = SessionKeys.of(KEY, false, NOTHING, NOTHING).packets();
  private final CipherWorkspace work = RocePacket.workspace();
  private final RocePacket written = new RocePacket();
  private final RocePacket read = new RocePacket();
  private final Icrc crc = new Icrc();

  @ParameterizedTest
  @EnumSource
  void opensWhatWasSealed(PacketOpcode opcode) {
    Random random = new Random(opcode.code());
    for (int i = 0; i < ROUNDS; i++) {
      RandomPacket fields = new RandomPacket(opcode, random);
      int open = fields.write(written).length();
      written.seal(sender, work);
      assertThat(written.length()).isEqualTo(open + PacketCipher.OVERHEAD);

      assertThat(read.load(written.bytes().array(), 0, written.length()))
          .isEqualTo(PacketFault.NONE);
      assertThat(read.isLocked()).isTrue();
      assertThat(read.destinationQueuePair()).isEqualTo(fields.destinationQueuePair);
      assertThat(read.open(receiver, work)).isEqualTo(PacketFault.NONE);

      fields.assertIn(read);
    }
  }

  @ParameterizedTest
  @EnumSource
  void survivesASocketInDirectMemory(PacketOpcode opcode) {
    Random random = new Random(opcode.code());
    RocePacket direct = RocePacket.direct();
    RocePacket arrived = RocePacket.direct();
    RandomPacket fields = new RandomPacket(opcode, random);
    fields.write(direct).seal(sender, work);
    int length = direct.udpPayload().remaining();
    arrived.udpSpace().put(direct.udpPayload());

    assertThat(arrived.parseUdp(length, fields.source, fields.sourcePort, fields.destination))
        .isEqualTo(PacketFault.NONE);
    assertThat(arrived.open(receiver, work)).isEqualTo(PacketFault.NONE);

    fields.assertInvariantIn(arrived);
  }

  @ParameterizedTest
  @EnumSource
  void seesEveryBitThatFlipsBehindTheUdpHeaderButThoseOfCongestion(PacketOpcode opcode) {
    new RandomPacket(opcode, new Random(2), 5).write(written).seal(sender, work);
    int covered = written.length() - Icrc.LENGTH;
    for (int at = RocePacket.UDP_PAYLOAD_OFFSET; at < covered; at++) {
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        read.copyFrom(written);
        read.bytes().put(at, (byte) (read.bytes().get(at) ^ 1 << bit));
        // An attacker who changes packets also corrects the CRC.
        Icrc.write(read.bytes(), covered, crc.compute(read.bytes(), covered));

        boolean congestion = at == BthLayout.CONGESTION_OFFSET;
        PacketFault fault = read.parse();
        boolean opened =
            fault == PacketFault.NONE
                && read.isLocked()
                && !congestion
                && read.open(receiver, work) == PacketFault.NONE;

        assertThat(opened).as("byte %d, bit %d", at, bit).isFalse();
      }
    }
    read.copyFrom(written).forwardCongestion(true);
    Icrc.write(read.bytes(), covered, crc.compute(read.bytes(), covered));
    assertThat(read.parse()).isEqualTo(PacketFault.NONE);
    assertThat(read.open(receiver, work)).as("marked on the way").isEqualTo(PacketFault.NONE);
  }

  @Test
  void aPacketThatWasOpenedOnceIsAReplay() {
    new RandomPacket(PacketOpcode.RC_WRITE_ONLY, new Random(3)).write(written).seal(sender, work);
    assertThat(read.copyFrom(written).parse()).isEqualTo(PacketFault.NONE);
    assertThat(read.open(receiver, work)).isEqualTo(PacketFault.NONE);

    assertThat(read.copyFrom(written).parse()).isEqualTo(PacketFault.NONE);
    assertThat(read.open(receiver, work)).isEqualTo(PacketFault.REPLAYED);
  }

  @Test
  void aPacketBehindOneThatWasSealedIsOpen() {
    new RandomPacket(PacketOpcode.RC_WRITE_ONLY, new Random(3)).write(written).seal(sender, work);
    new RandomPacket(PacketOpcode.RC_SEND_ONLY, new Random(4)).write(written);

    assertThat(read.copyFrom(written).parse()).isEqualTo(PacketFault.NONE);
    assertThat(read.isLocked()).isFalse();
  }

  @Test
  void holdsNothingOfThePayloadOrTheAddress() {
    written.start(PacketOpcode.RC_WRITE_ONLY).remoteAddress(0x1122334455667788L).remoteKey(0x99aa);
    ByteBuffer payload = ByteBuffer.allocate(64);
    for (int i = 0; i < 64; i += 8) {
      payload.putLong(i, 0x5ec2e75ec2e7L);
    }
    written.append(payload, 0, 64).seal(sender, work);

    for (int at = 0; at + Long.BYTES <= written.length(); at++) {
      assertThat(written.bytes().getLong(at)).isNotIn(0x1122334455667788L, 0x5ec2e75ec2e7L);
    }
  }

  @Test
  void refusesOneWithoutRoomForItsTag() {
    written.start(PacketOpcode.RC_ACKNOWLEDGE).seal(sender, work);
    int length = BthLayout.END + PacketCipher.OVERHEAD + Icrc.LENGTH - 1;
    ByteBuffer bytes = written.bytes();
    BigEndian.putShort(bytes, Ipv4Layout.TOTAL_LENGTH_OFFSET, length);
    BigEndian.putShort(bytes, UdpLayout.LENGTH_OFFSET, length - Ipv4Layout.LENGTH);
    BigEndian.putShort(bytes, Ipv4Layout.CHECKSUM_OFFSET, 0);
    BigEndian.putShort(bytes, Ipv4Layout.CHECKSUM_OFFSET, Ipv4Layout.checksum(bytes));

    assertThat(written.length(length).parse()).isEqualTo(PacketFault.TOO_SHORT);
  }
}
