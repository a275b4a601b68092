// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The parser reports each kind of malformed packet by its own fault and never throws. */
class PacketFaultTest {
  private static final int FLAGS = 29;

  /** Bytes that the ICRC does not cover: UDP checksum and congestion bits. */
  private static final Set<Integer> UNCHECKED = Set.of(26, 27, 32);

  private final RocePacket frame = new RocePacket();

  @ParameterizedTest
  @CsvSource({
    "0, 0x46, IP_VERSION",
    "0, 0x65, IP_VERSION",
    "3, 0x00, IP_LENGTH",
    "6, 0x60, IP_FRAGMENT",
    "7, 0x01, IP_FRAGMENT",
    "9, 6, IP_PROTOCOL",
    "22, 0x13, UDP_PORT",
    "25, 0x00, UDP_LENGTH",
    "28, 0x15, OPCODE",
    "28, 0x40, OPCODE",
    "28, 0xff, OPCODE",
    "29, 0x02, TRANSPORT_VERSION",
    "40, 0xaa, ICRC",
  })
  void namesTheFirstThingThatIsWrong(int offset, String value, PacketFault fault) {
    send(PacketOpcode.RC_SEND_ONLY, 8);
    frame.bytes().array()[offset] = (byte) (int) Integer.decode(value);
    sealChecksum();

    assertThat(frame.parse()).isEqualTo(fault);
  }

  @Test
  void refusesAWrongChecksumOfTheIpHeader() {
    send(PacketOpcode.RC_SEND_ONLY, 8);
    frame.bytes().array()[10] ^= 1;

    assertThat(frame.parse()).isEqualTo(PacketFault.IP_CHECKSUM);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 1, 20, 28, 40, 43})
  void refusesLessThanTheHeaders(int length) {
    send(PacketOpcode.RC_SEND_ONLY, 0);

    assertThat(frame.length(length).parse()).isEqualTo(PacketFault.TOO_SHORT);
  }

  @ParameterizedTest
  @ValueSource(ints = {RocePacket.CAPACITY + 1, 65_535, Integer.MAX_VALUE})
  void refusesMoreThanItHolds(int length) {
    assertThat(frame.length(length).parse()).isEqualTo(PacketFault.TOO_LONG);
    assertThat(frame.load(new byte[0], 0, length)).isEqualTo(PacketFault.TOO_LONG);
  }

  @Test
  void refusesADatagramThatWasCutOff() {
    int received = frame.udpSpace().remaining();

    assertThat(frame.parseUdp(received, 1, 2, 3)).isEqualTo(PacketFault.TOO_LONG);
  }

  @ParameterizedTest
  @EnumSource
  void refusesAPacketWithoutRoomForItsExtendedHeaders(PacketOpcode opcode) {
    int whole = new RandomPacket(opcode, new Random(1), 0).write(frame).length();
    for (int length = whole - 1; length >= 44; length--) {
      cutTo(length);

      assertThat(frame.parse()).isEqualTo(PacketFault.TOO_SHORT);
    }
  }

  @Test
  void refusesMorePadThanBytes() {
    send(PacketOpcode.RC_SEND_ONLY, 0);
    frame.bytes().array()[FLAGS] = 0x10;

    assertThat(frame.parse()).isEqualTo(PacketFault.PAD);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void refusesPayloadAndPadThatAreNoWholeWords(int missing) {
    send(PacketOpcode.RC_SEND_ONLY, 8);
    cutTo(frame.length() - missing);

    assertThat(frame.parse()).isEqualTo(PacketFault.PAD);
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "RC_READ_REQUEST",
        "RC_ACKNOWLEDGE",
        "RC_ATOMIC_ACKNOWLEDGE",
        "RC_COMPARE_SWAP",
        "RC_FETCH_ADD",
        "CONGESTION_NOTIFICATION"
      })
  void refusesPayloadWhereThereIsNone(PacketOpcode opcode) {
    new RandomPacket(opcode, new Random(1)).write(frame);
    cutTo(frame.length() + 4);

    assertThat(frame.parse()).isEqualTo(PacketFault.PAYLOAD_LENGTH);
  }

  @Test
  void refusesMoreThanTheLargestMtu() {
    send(PacketOpcode.RC_SEND_ONLY, RocePacket.MAX_PAYLOAD);
    cutTo(frame.length() + 4);

    assertThat(frame.parse()).isEqualTo(PacketFault.PAYLOAD_LENGTH);
  }

  @ParameterizedTest
  @EnumSource
  void seesEveryBitThatFlips(PacketOpcode opcode) {
    new RandomPacket(opcode, new Random(2), 5).write(frame);
    for (int bit = 0; bit < 8 * frame.length(); bit++) {
      frame.bytes().array()[bit / 8] ^= (byte) (1 << bit % 8);

      boolean good = frame.parse() == PacketFault.NONE;

      assertThat(good).as("bit %d", bit).isEqualTo(UNCHECKED.contains(bit / 8));
      frame.bytes().array()[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertThat(frame.parse()).isEqualTo(PacketFault.NONE);
  }

  @Test
  void seesWithoutTheIpHeaderAllButOneDamageOf65536() {
    Random random = new Random(3);
    int overlooked = 0;
    for (int i = 0; i < 20_000; i++) {
      RandomPacket fields = new RandomPacket(PacketOpcode.RC_SEND_ONLY, random, 64);
      fields.write(frame);
      int at = 40 + random.nextInt(64);
      frame.bytes().array()[at] ^= (byte) (1 + random.nextInt(255));
      int received = frame.length() - RocePacket.UDP_PAYLOAD_OFFSET;
      if (frame.parseUdp(received, fields.source, fields.sourcePort, fields.destination)
          == PacketFault.NONE) {
        overlooked++;
      }
    }
    assertThat(overlooked).isLessThanOrEqualTo(3);
  }

  @Test
  void keepsWhatWasReadWhenTheNextIsBad() {
    send(PacketOpcode.RC_SEND_ONLY, 8);
    assertThat(frame.parse()).isEqualTo(PacketFault.NONE);

    cutTo(frame.length() - 1);

    assertThat(frame.parse()).isEqualTo(PacketFault.PAD);
    assertThat(frame.payloadLength()).isEqualTo(8);
  }

  private void send(PacketOpcode opcode, int payload) {
    new RandomPacket(opcode, new Random(payload), payload).write(frame);
  }

  private void cutTo(int length) {
    frame.length(length);
    BigEndian.putShort(frame.bytes(), 2, length);
    BigEndian.putShort(frame.bytes(), 24, length - 20);
    sealChecksum();
  }

  private void sealChecksum() {
    BigEndian.putShort(frame.bytes(), 10, 0);
    BigEndian.putShort(frame.bytes(), 10, Ipv4Layout.checksum(frame.bytes()));
  }
}
