// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Packets of every opcode with random fields are parsed as they were written. */
class PacketRoundTripTest {
  private static final int ROUNDS = 300;

  private final RocePacket written = new RocePacket();
  private final RocePacket read = new RocePacket();

  @ParameterizedTest
  @EnumSource
  void parsesWhatItWrote(PacketOpcode opcode) {
    Random random = new Random(opcode.code());
    for (int i = 0; i < ROUNDS; i++) {
      RandomPacket fields = new RandomPacket(opcode, random);
      fields.write(written);

      assertThat(read.load(written.bytes().array(), 0, written.length()))
          .isEqualTo(PacketFault.NONE);

      fields.assertIn(read);
    }
  }

  @ParameterizedTest
  @EnumSource
  void writesWhatTheSpecificationSays(PacketOpcode opcode) {
    Random random = new Random(opcode.code());
    for (int i = 0; i < ROUNDS; i++) {
      RandomPacket fields = new RandomPacket(opcode, random);
      fields.write(written);
      int end = written.length() - Icrc.LENGTH;

      assertThat(Arrays.copyOfRange(written.bytes().array(), RocePacket.UDP_PAYLOAD_OFFSET, end))
          .isEqualTo(fields.transportBytes());
      assertThat(Icrc.read(written.bytes(), end)).isEqualTo(icrc(written.bytes().array(), end));
    }
  }

  @ParameterizedTest
  @EnumSource
  void survivesASocketThatHidesTheIpHeader(PacketOpcode opcode) {
    Random random = new Random(opcode.code());
    for (int i = 0; i < ROUNDS; i++) {
      RandomPacket fields = new RandomPacket(opcode, random);
      ByteBuffer sent = fields.write(written).udpPayload();
      int length = sent.remaining();

      read.udpSpace().put(sent);

      assertThat(read.parseUdp(length, fields.source, fields.sourcePort, fields.destination))
          .isEqualTo(PacketFault.NONE);
      fields.assertInvariantIn(read);
      assertThat(read.parse()).isEqualTo(PacketFault.NONE);
    }
  }

  @ParameterizedTest
  @EnumSource
  void copiesAPacketWithItsState(PacketOpcode opcode) {
    RandomPacket fields = new RandomPacket(opcode, new Random(opcode.code()));

    read.copyFrom(fields.write(written));

    fields.assertIn(read);
    assertThat(read.parse()).isEqualTo(PacketFault.NONE);
  }

  @ParameterizedTest
  @EnumSource
  void isTheSameOutsideTheHeap(PacketOpcode opcode) {
    RocePacket direct = RocePacket.direct();
    RocePacket received = RocePacket.direct();
    Random random = new Random(opcode.code());
    for (int i = 0; i < ROUNDS; i++) {
      RandomPacket fields = new RandomPacket(opcode, random);
      fields.write(written);
      fields.write(direct);

      assertThat(direct.bytes().slice(0, direct.length()))
          .isEqualTo(written.bytes().slice(0, written.length()));
      assertThat(direct.parse()).isEqualTo(PacketFault.NONE);
      fields.assertIn(direct);

      ByteBuffer sent = direct.udpPayload();
      int length = sent.remaining();
      received.udpSpace().put(sent);
      assertThat(received.parseUdp(length, fields.source, fields.sourcePort, fields.destination))
          .isEqualTo(PacketFault.NONE);
      fields.assertInvariantIn(received);
    }
  }

  @ParameterizedTest
  @EnumSource
  void writesThePayloadPiecewiseAsAtOnce(PacketOpcode opcode) {
    Random random = new Random(opcode.code());
    for (int i = 0; i < ROUNDS; i++) {
      RandomPacket fields = new RandomPacket(opcode, random);
      byte[] whole = Arrays.copyOf(fields.write(written).bytes().array(), written.length());
      ByteBuffer payload = ByteBuffer.allocateDirect(fields.payload.length + 1);
      payload.put(1, fields.payload);

      read.copyFrom(written).start(opcode);
      int done = 0;
      while (done < fields.payload.length) {
        int piece = 1 + random.nextInt(fields.payload.length - done);
        read.append(payload, 1 + done, piece);
        done += piece;
      }
      read.seal();

      int from = opcode.payloadOffset();
      assertThat(Arrays.copyOfRange(read.bytes().array(), from, read.length() - Icrc.LENGTH))
          .isEqualTo(Arrays.copyOfRange(whole, from, whole.length - Icrc.LENGTH));
    }
  }

  /** Computes the invariant CRC by its definition, with ones in place of the uncovered bits. */
  private static int icrc(byte[] frame, int length) {
    byte[] covered = new byte[8 + length];
    Arrays.fill(covered, 0, 8, (byte) 0xff);
    System.arraycopy(frame, 0, covered, 8, length);
    for (int changeable : new int[] {1, 8, 10, 11, 26, 27, 32}) {
      covered[8 + changeable] = (byte) 0xff;
    }
    CRC32 crc = new CRC32();
    crc.update(covered);
    return (int) crc.getValue();
  }
}
