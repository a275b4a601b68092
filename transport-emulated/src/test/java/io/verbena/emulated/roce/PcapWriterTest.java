// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PcapWriterTest {
  @TempDir private Path folder;
  private Path file;
  private final RocePacket frame = new RocePacket().start(PacketOpcode.RC_ACKNOWLEDGE).seal();

  @BeforeEach
  void nameFile() {
    file = folder.resolve("packets.pcap");
  }

  @Test
  void writesAHeaderAndEachPacketWithItsTime() throws IOException {
    try (PcapWriter pcap = PcapWriter.create(file)) {
      pcap.write(frame, 1_700_000_000_123_456_789L);
    }

    ByteBuffer written = ByteBuffer.wrap(Files.readAllBytes(file));
    assertThat(written.remaining()).isEqualTo(24 + 16 + frame.length());
    assertThat(written.getInt()).isEqualTo(0xa1b23c4d);
    assertThat(written.getInt()).isEqualTo(0x0002_0004);
    assertThat(written.getLong()).isZero();
    assertThat(written.getInt())
        .isEqualTo(RocePacket.CAPACITY + Ipv6Layout.LENGTH - Ipv4Layout.LENGTH);
    assertThat(written.getInt()).isEqualTo(101);
    assertThat(written.getInt()).isEqualTo(1_700_000_000);
    assertThat(written.getInt()).isEqualTo(123_456_789);
    assertThat(written.getInt()).isEqualTo(frame.length());
    assertThat(written.getInt()).isEqualTo(frame.length());
    byte[] packet = new byte[frame.length()];
    written.get(packet);
    assertThat(frame.bytes().array()).startsWith(packet);
  }

  @Test
  void hasEachPacketInTheFileBeforeItIsClosed() throws IOException {
    try (PcapWriter pcap = PcapWriter.create(file)) {
      pcap.write(frame, 0);

      assertThat(file).hasSize(24 + 16 + frame.length());
    }
  }

  @Test
  void writesOnAnInterruptedThreadToo() throws IOException {
    try (PcapWriter pcap = PcapWriter.create(file)) {
      Thread.currentThread().interrupt();
      pcap.write(frame, 0);
      assertThat(Thread.interrupted()).as("still interrupted").isTrue();

      pcap.write(frame, 1);

      assertThat(file).hasSize(24 + 2 * (16 + frame.length()));
    }
  }

  @Test
  void overwritesAnOldFile() throws IOException {
    Files.write(file, new byte[1000]);

    PcapWriter.create(file).close();

    assertThat(file).hasSize(24);
  }

  @Test
  void refusesWhatIsNoPacketOrNoTime() throws IOException {
    try (PcapWriter pcap = PcapWriter.create(file)) {
      assertThatThrownBy(() -> pcap.write(frame, -1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("nanos: -1 (expected: >= 0)");
      assertThatThrownBy(() -> pcap.write(new RocePacket(), 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("length: 0 (expected: 1 to %d)", RocePacket.CAPACITY);
      assertThat(file).hasSize(24);
    }
  }

  @Test
  void refusesToWriteAfterClose() throws IOException {
    PcapWriter pcap = PcapWriter.create(file);
    pcap.close();
    pcap.close();

    assertThatThrownBy(() -> pcap.write(frame, 0)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void saysThatTheFolderIsMissing() {
    Path nowhere = folder.resolve("no").resolve("packets.pcap");

    assertThatThrownBy(() -> PcapWriter.create(nowhere)).isInstanceOf(IOException.class);
  }
}
