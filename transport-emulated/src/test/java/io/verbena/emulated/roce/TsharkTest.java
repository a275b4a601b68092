// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Wireshark decodes each kind of packet as it was written. */
class TsharkTest {
  private static final List<String> FIELDS =
      List.of(
          "frame.time_epoch",
          "ip.src",
          "ip.id",
          "udp.srcport",
          "infiniband.bth.opcode",
          "infiniband.bth.se",
          "infiniband.bth.m",
          "infiniband.bth.padcnt",
          "infiniband.bth.p_key",
          "infiniband.bth.destqp",
          "infiniband.bth.a",
          "infiniband.bth.psn",
          "infiniband.deth.q_key",
          "infiniband.deth.srcqp",
          "infiniband.reth.va",
          "infiniband.reth.r_key",
          "infiniband.reth.dmalen",
          "infiniband.atomiceth.swapdt",
          "infiniband.atomiceth.cmpdt",
          "infiniband.aeth.syndrome",
          "infiniband.aeth.msn",
          "infiniband.atomicacketh.origremdt",
          "infiniband.immdt",
          "infiniband.ieth",
          "infiniband.invariant.crc");

  private static final long LOW_32 = 0xffff_ffffL;

  @TempDir private static Path folder;
  private static Path capture;
  private static final List<RandomPacket> WRITTEN = new ArrayList<>();
  private static final List<Integer> CRCS = new ArrayList<>();

  @BeforeAll
  static void writeEveryKind() throws IOException {
    Tshark.assumeInstalled();
    capture = folder.resolve("packets.pcap");
    RocePacket frame = new RocePacket();
    Random random = new Random(1);
    try (PcapWriter pcap = PcapWriter.create(capture)) {
      for (PacketOpcode opcode : PacketOpcode.values()) {
        for (int payload : new int[] {0, 1, 2, 3, 256, 4096}) {
          RandomPacket fields = new RandomPacket(opcode, random, payload);
          // Random bytes would sometimes look like the header of another protocol.
          Arrays.fill(fields.payload, (byte) 0xee);
          fields.write(frame);
          pcap.write(frame, time(WRITTEN.size()));
          WRITTEN.add(fields);
          CRCS.add(frame.bytes().getInt(frame.length() - Icrc.LENGTH));
        }
      }
    }
  }

  @Test
  void findsNothingMalformed() throws Exception {
    assertThat(Tshark.read(capture, "-Y", "infiniband")).hasSameSizeAs(WRITTEN);
    assertThat(
            Tshark.read(
                capture,
                "-Y",
                "_ws.malformed || _ws.short || ip.checksum.status == Bad",
                "-o",
                "ip.check_checksum:TRUE"))
        .isEmpty();
  }

  @Test
  void readsTheFieldsThatWereWritten() throws Exception {
    List<String> arguments =
        new ArrayList<>(List.of("-T", "fields", "-E", "separator=|", "-E", "occurrence=f"));
    for (String field : FIELDS) {
      arguments.add("-e");
      arguments.add(field);
    }

    List<String> lines = Tshark.read(capture, arguments.toArray(String[]::new));

    assertThat(lines).hasSameSizeAs(WRITTEN);
    for (int i = 0; i < lines.size(); i++) {
      assertThat(lines.get(i)).as(WRITTEN.get(i).opcode.name()).isEqualTo(expected(i));
    }
  }

  /** Returns a line of fields, each empty if the packet lacks its header. */
  private static String expected(int i) {
    RandomPacket fields = WRITTEN.get(i);
    PacketOpcode opcode = fields.opcode;
    boolean remote = opcode.has(ExtendedHeader.RETH) || opcode.has(ExtendedHeader.ATOMIC_ETH);
    boolean known = opcode != PacketOpcode.CONGESTION_NOTIFICATION;
    return String.join(
        "|",
        "%d.000001234".formatted(i),
        address(fields.source),
        "0x%04x".formatted(fields.identification),
        "" + fields.sourcePort,
        "" + opcode.code(),
        flag(fields.solicited),
        flag(fields.migrated),
        "" + (-fields.payload.length & 3),
        "" + fields.partitionKey,
        "0x%06x".formatted(fields.destinationQueuePair),
        flag(fields.ackRequested),
        "" + fields.psn,
        opcode.has(ExtendedHeader.DETH) ? "0x%016x".formatted(fields.queueKey & LOW_32) : "",
        opcode.has(ExtendedHeader.DETH) ? "0x%08x".formatted(fields.sourceQueuePair) : "",
        remote ? "0x%016x".formatted(fields.address) : "",
        remote ? "0x%08x".formatted(fields.remoteKey) : "",
        opcode.has(ExtendedHeader.RETH) ? "" + fields.dmaLength : "",
        opcode.has(ExtendedHeader.ATOMIC_ETH) ? Long.toUnsignedString(fields.swapOrAdd) : "",
        opcode.has(ExtendedHeader.ATOMIC_ETH) ? Long.toUnsignedString(fields.compare) : "",
        opcode.has(ExtendedHeader.AETH) ? "" + fields.syndrome : "",
        opcode.has(ExtendedHeader.AETH) ? "" + fields.messageSequence : "",
        opcode.has(ExtendedHeader.ATOMIC_ACK_ETH) ? Long.toUnsignedString(fields.original) : "",
        opcode.has(ExtendedHeader.IMM_DT) ? "%08x".formatted(fields.immediate) : "",
        opcode.has(ExtendedHeader.IETH) ? "%08x".formatted(fields.invalidatedKey) : "",
        known ? "0x%08x".formatted(CRCS.get(i)) : "");
  }

  private static String flag(boolean set) {
    return set ? "1" : "0";
  }

  private static String address(int address) {
    return "%d.%d.%d.%d"
        .formatted(address >>> 24, address >>> 16 & 0xff, address >>> 8 & 0xff, address & 0xff);
  }

  private static long time(int packet) {
    return 1_000_000_000L * packet + 1_234;
  }
}
