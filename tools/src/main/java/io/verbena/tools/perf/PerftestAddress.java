// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.QueuePairAddress;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The address of a queue pair and its memory, as perftest sends it over TCP in 108 bytes: fields of
 * hexadecimal digits with a colon behind each, for LID, outstanding READs, queue pair, PSN, rkey,
 * address, the 16 bytes of the GID and the number of an SRQ, and a NUL.
 *
 * @param peer the queue pair
 * @param outstanding READs and atomics that it serves at once
 * @param rkey of the memory
 * @param memory where it begins
 */
record PerftestAddress(QueuePairAddress peer, int outstanding, int rkey, long memory) {
  static final int LENGTH = 108;

  /** The first bytes of every address: the LID, which RoCE has not, and its colon. */
  static final int FIRST = 5;

  private static final int OUTSTANDING_FIELD = 1;
  private static final int PAIR_FIELD = 2;
  private static final int PSN_FIELD = 3;
  private static final int KEY_FIELD = 4;
  private static final int MEMORY_FIELD = 5;
  private static final int GID_FIELD = 6;
  private static final int GID_BYTES = 16;

  byte[] encode() {
    HexFormat hex = HexFormat.of();
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%04x:%04x:%06x:%06x:%08x:%016x:",
                0,
                outstanding,
                peer.queuePair(),
                peer.psn(),
                rkey,
                memory));
    String digits = hex.toHexDigits(peer.gid().high()) + hex.toHexDigits(peer.gid().low());
    for (int i = 0; i < digits.length(); i += 2) {
      text.append(digits, i, i + 2).append(':');
    }
    return text.append("00000000:\0").toString().getBytes(StandardCharsets.US_ASCII);
  }

  static PerftestAddress decode(byte[] message) throws ToolFailure {
    String text = new String(message, StandardCharsets.US_ASCII);
    String[] fields = text.split(":", -1);
    try {
      StringBuilder gid = new StringBuilder();
      for (int i = 0; i < GID_BYTES; i++) {
        gid.append(fields[GID_FIELD + i]);
      }
      return new PerftestAddress(
          new QueuePairAddress(
              HexFormat.fromHexDigits(fields[PAIR_FIELD]),
              HexFormat.fromHexDigits(fields[PSN_FIELD]),
              new Gid(
                  HexFormat.fromHexDigitsToLong(gid.substring(0, GID_BYTES)),
                  HexFormat.fromHexDigitsToLong(gid.substring(GID_BYTES)))),
          HexFormat.fromHexDigits(fields[OUTSTANDING_FIELD]),
          HexFormat.fromHexDigits(fields[KEY_FIELD]),
          HexFormat.fromHexDigitsToLong(fields[MEMORY_FIELD]));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new ToolFailure(
          "no address of perftest: " + text.trim(), "start the same test at both ends");
    }
  }
}
