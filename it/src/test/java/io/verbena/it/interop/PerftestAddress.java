package io.verbena.it.interop;

import io.verbena.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Where a queue pair and its memory are, as perftest tells it over TCP in 108 bytes: fields of
 * hexadecimal digits with a colon behind each, for LID, outstanding READs, queue pair, PSN, rkey,
 * address, the 16 bytes of the GID and the number of an SRQ, and a NUL.
 *
 * @param queuePair its number
 * @param psn the first PSN that it sends
 * @param rkey of the memory
 * @param memory where it begins
 * @param gid of its port
 */
record PerftestAddress(int queuePair, int psn, int rkey, long memory, Gid gid) {
  static final PerftestAddress NOWHERE = new PerftestAddress(0, 0, 0, 0, new Gid(0, 0));

  private static final int GID_FIELD = 6;

  byte[] encode() {
    StringBuilder text =
        new StringBuilder(
            "%04x:%04x:%06x:%06x:%08x:%016x:".formatted(0, 1, queuePair, psn, rkey, memory));
    String digits = HexFormat.of().toHexDigits(gid.high()) + HexFormat.of().toHexDigits(gid.low());
    for (int i = 0; i < digits.length(); i += 2) {
      text.append(digits, i, i + 2).append(':');
    }
    return text.append("%08x:\0".formatted(0)).toString().getBytes(StandardCharsets.US_ASCII);
  }

  static PerftestAddress decode(byte[] message) {
    String[] fields = new String(message, StandardCharsets.US_ASCII).split(":", -1);
    StringBuilder gid = new StringBuilder();
    for (int i = 0; i < 16; i++) {
      gid.append(fields[GID_FIELD + i]);
    }
    return new PerftestAddress(
        HexFormat.fromHexDigits(fields[2]),
        HexFormat.fromHexDigits(fields[3]),
        HexFormat.fromHexDigits(fields[4]),
        HexFormat.fromHexDigitsToLong(fields[5]),
        new Gid(
            HexFormat.fromHexDigitsToLong(gid.substring(0, 16)),
            HexFormat.fromHexDigitsToLong(gid.substring(16))));
  }
}
