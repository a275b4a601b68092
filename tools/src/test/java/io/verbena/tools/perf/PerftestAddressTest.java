// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.end.QueuePairAddress;
import io.verbena.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class PerftestAddressTest {
  private static final PerftestAddress ADDRESS =
      new PerftestAddress(
          new QueuePairAddress(
              0xabcd, 0x11, 0x22_33_44, new Gid(0x0102030405060708L, 0x090a0b0c0d0e0f10L)),
          0x10,
          0x5566_7788,
          0x7f00_1122_3344_5566L);

  /** perftest sends its C {@code struct pingpong_dest}, with big-endian numbers. */
  @Test
  void isTheStructureOfPerftestOverAQueuePair() {
    assertThat(HexFormat.of().formatHex(ADDRESS.toBytes()))
        .isEqualTo(
            "0000abcd" // LID
                + "00000010" // READs
                + "00000011" // queue pair
                + "00223344" // PSN
                + "55667788" // rkey
                + "00000000" // padding
                + "7f00112233445566" // address
                + "0102030405060708090a0b0c0d0e0f10" // GID
                + "00000000" // shared receive queue
                + "00000000"); // index of the GID
    assertThat(PerftestAddress.ofBytes(ADDRESS.toBytes())).isEqualTo(ADDRESS);
  }

  @Test
  void isTextOverTcp() throws Exception {
    assertThat(ADDRESS.toText())
        .hasSize(PerftestAddress.LENGTH)
        .startsWith("abcd:0010:000011:".getBytes(StandardCharsets.US_ASCII));
    assertThat(PerftestAddress.ofText(ADDRESS.toText())).isEqualTo(ADDRESS);
  }
}
