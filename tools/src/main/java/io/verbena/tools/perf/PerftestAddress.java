// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.QueuePairAddress;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The address of a queue pair and its memory. Over TCP perftest sends it in 108 bytes: fields of
 * hexadecimal digits, each followed by a colon, for LID, outstanding READs, queue pair, PSN, rkey,
 * address, the 16 bytes of the GID and the number of an SRQ, and a NUL. Over a queue pair it sends
 * the same numbers, big-endian, in the 56 bytes of its structure in C.
 *
 * @param peer the queue pair
 * @param outstanding READs and atomics that it serves at once
 * @param rkey of the memory
 * @param memory the address of the memory
 */
record PerftestAddress(QueuePairAddress peer, int outstanding, int rkey, long memory) {
  static final int LENGTH = 108;

  /** The length of an address that is sent over a queue pair. */
  static final int BINARY_LENGTH = 56;

  /** The address of an end that has no queue pair yet. */
  static final PerftestAddress NONE =
      new PerftestAddress(new QueuePairAddress(0, 0, 0, new Gid(0, 0)), 0, 0, 0);

  /** The first bytes of every address: the LID, 0 on RoCE, and its colon. */
  static final int FIRST = 5;

  private static final int LID_FIELD = 0;
  private static final int OUTSTANDING_FIELD = 1;
  private static final int PAIR_FIELD = 2;
  private static final int PSN_FIELD = 3;
  private static final int KEY_FIELD = 4;
  private static final int MEMORY_FIELD = 5;
  private static final int GID_FIELD = 6;
  private static final int GID_BYTES = 16;

  private static final int LID_AT = 0;
  private static final int OUTSTANDING_AT = 4;
  private static final int PAIR_AT = 8;
  private static final int PSN_AT = 12;
  private static final int KEY_AT = 16;
  private static final int MEMORY_AT = 24;
  private static final int GID_AT = 32;

  byte[] toText() {
    HexFormat hex = HexFormat.of();
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%04x:%04x:%06x:%06x:%08x:%016x:",
                peer.lid(),
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

  /** LID, READs, queue pair, PSN, rkey and padding; address and GID; SRQ and GID's index. */
  byte[] toBytes() {
    return ByteBuffer.allocate(BINARY_LENGTH)
        .putInt(peer.lid())
        .putInt(outstanding)
        .putInt(peer.queuePair())
        .putInt(peer.psn())
        .putInt(rkey)
        .putInt(0)
        .putLong(memory)
        .putLong(peer.gid().high())
        .putLong(peer.gid().low())
        .array();
  }

  static PerftestAddress ofBytes(byte[] message) {
    ByteBuffer fields = ByteBuffer.wrap(message);
    int outstanding = fields.getInt(OUTSTANDING_AT);
    QueuePairAddress peer =
        new QueuePairAddress(
            fields.getInt(LID_AT),
            fields.getInt(PAIR_AT),
            fields.getInt(PSN_AT),
            new Gid(fields.getLong(GID_AT), fields.getLong(GID_AT + Long.BYTES)));
    return new PerftestAddress(peer, outstanding, fields.getInt(KEY_AT), fields.getLong(MEMORY_AT));
  }

  static PerftestAddress ofText(byte[] message) throws ToolFailure {
    String text = new String(message, StandardCharsets.US_ASCII);
    String[] fields = text.split(":", -1);
    try {
      StringBuilder gid = new StringBuilder();
      for (int i = 0; i < GID_BYTES; i++) {
        gid.append(fields[GID_FIELD + i]);
      }
      return new PerftestAddress(
          new QueuePairAddress(
              HexFormat.fromHexDigits(fields[LID_FIELD]),
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
