// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Gid;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests packets over IPv6, and which bytes the invariant CRC covers (IBTA annex A17). */
class Ipv6PacketTest {
  private static final Gid FROM = new Gid(0x2001_0db8_0000_0001L, 0x0a);
  private static final Gid TO = new Gid(0x2001_0db8_0000_0002L, 0xffff_0000_0b0bL);

  /** An ACK, PSN 2, MSN 2, to queue pair 0x11. */
  private static final String TRANSPORT = "1100ffff0000001100000002" + "1f000002";

  private final RocePacket frame = new RocePacket();

  private RocePacket acknowledgement() {
    return frame
        .start(PacketOpcode.RC_ACKNOWLEDGE)
        .destinationQueuePair(0x11)
        .psn(2)
        .syndrome(0x1f)
        .messageSequence(2)
        .sourcePort(0xd1dd)
        .addresses(FROM, TO)
        .seal();
  }

  @Test
  void hasTheHeaderThatAKernelWrites() {
    acknowledgement();

    assertThat(HexFormat.of().formatHex(frame.ipv6Header().array()))
        .isEqualTo(
            "60000000"
                + "001c"
                + "11"
                + "40"
                + "20010db800000001000000000000000a"
                + "20010db8000000020000ffff00000b0b");
  }

  @Test
  void countsOnlyWhatNoRouterChanges() {
    acknowledgement();

    // The CRC input begins with 8 bytes of ones. Traffic class, flow label, hop limit, UDP checksum
    // and the byte with the congestion bits also count as ones.
    byte[] counted =
        HexFormat.of()
            .parseHex(
                "ffffffffffffffff"
                    + "6fffffff"
                    + "001c"
                    + "11"
                    + "ff"
                    + "20010db800000001000000000000000a"
                    + "20010db8000000020000ffff00000b0b"
                    + "d1dd12b7001cffff"
                    + TRANSPORT.substring(0, 8)
                    + "ff"
                    + TRANSPORT.substring(10));
    CRC32 crc = new CRC32();
    crc.update(counted);
    assertThat(Icrc.read(frame.bytes(), frame.length() - Icrc.LENGTH))
        .isEqualTo((int) crc.getValue());
  }

  @Test
  void takesFromASocketWhatWasSentAndNothingElse() {
    ByteBuffer sent = acknowledgement().udpPayload();
    byte[] bytes = new byte[sent.remaining()];
    sent.get(bytes);

    assertThat(received(bytes, FROM, 0xd1dd, TO)).isEqualTo(PacketFault.NONE);
    assertThat(frame.isOverIpv6()).isTrue();
    assertThat(new Gid(frame.sourceHigh(), frame.sourceLow())).isEqualTo(FROM);
    assertThat(new Gid(frame.destinationHigh(), frame.destinationLow())).isEqualTo(TO);
    assertThat(frame.psn()).isEqualTo(2);
    assertThat(received(bytes, TO, 0xd1dd, TO)).isEqualTo(PacketFault.ICRC);
    assertThat(received(bytes, FROM, 0xd1dd, FROM)).isEqualTo(PacketFault.ICRC);
    assertThat(received(bytes, FROM, 0xd1de, TO)).isEqualTo(PacketFault.ICRC);
    for (int bit = 0; bit < Byte.SIZE * bytes.length; bit++) {
      byte[] damaged = bytes.clone();
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      boolean mayChange = bit / Byte.SIZE == BthLayout.CONGESTION_OFFSET - BthLayout.OFFSET;
      assertThat(received(damaged, FROM, 0xd1dd, TO) == PacketFault.NONE)
          .as("bit %d", bit)
          .isEqualTo(mayChange);
    }
  }

  private PacketFault received(byte[] bytes, Gid from, int port, Gid to) {
    frame.udpSpace().put(bytes);
    return frame.parseUdp(bytes.length, from, port, to);
  }

  @Test
  void goesOverIpv4AgainOnceItIsStartedAnew() {
    acknowledgement().start(PacketOpcode.RC_ACKNOWLEDGE).addresses(1, 2).seal();

    assertThat(frame.isOverIpv6()).isFalse();
    assertThat(frame.parse()).isEqualTo(PacketFault.NONE);
  }

  @Test
  void isCapturedFromItsIpHeaderOn(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("ipv6.pcap");
    try (PcapWriter writer = PcapWriter.create(file)) {
      writer.write(acknowledgement(), 0);
    }

    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.writeBytes(frame.ipv6Header().array());
    whole.write(frame.bytes().array(), Ipv4Layout.LENGTH, frame.length() - Ipv4Layout.LENGTH);
    byte[] written = Files.readAllBytes(file);
    int header = written.length - whole.size();
    assertThat(Arrays.copyOfRange(written, header, written.length)).isEqualTo(whole.toByteArray());
    assertThat(ByteBuffer.wrap(written, header - 2 * Integer.BYTES, 4).getInt())
        .isEqualTo(whole.size());
  }
}
