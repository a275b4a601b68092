// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import io.verbena.verbs.Gid;
import java.util.Locale;

/**
 * The address of a queue pair, as the ends of a test exchange it.
 *
 * @param lid of its port on InfiniBand, 0 elsewhere
 * @param queuePair its number
 * @param psn the first PSN that it sends
 * @param gid of its port, 0 if the LID suffices
 */
public record QueuePairAddress(int lid, int queuePair, int psn, Gid gid) {

  /** Returns a GID as {@code inet_ntop(3)} writes it if it maps an IPv4 address, else in full. */
  public static String text(Gid gid) {
    if (gid.high() != 0 || gid.low() >>> 32 != 0xffff) {
      return gid.toString();
    }
    int ipv4 = (int) gid.low();
    return String.format(
        Locale.ROOT,
        "::ffff:%d.%d.%d.%d",
        ipv4 >>> 24,
        ipv4 >>> 16 & 0xff,
        ipv4 >>> 8 & 0xff,
        ipv4 & 0xff);
  }
}
