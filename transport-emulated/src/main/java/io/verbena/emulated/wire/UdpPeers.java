// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.verbs.Gid;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cache of socket addresses by GID, so that sending does not allocate. Bounded: the cache is
 * cleared when it is full.
 */
final class UdpPeers {
  private static final int SLOTS = 4096;
  private static final int MOST = SLOTS / 2;
  private static final long MIX = 0x9E3779B97F4A7C15L;
  private static final int SHIFT = Long.SIZE - 12;

  private final long[] highs = new long[SLOTS];
  private final long[] lows = new long[SLOTS];
  private final @Nullable InetSocketAddress[] addresses = new @Nullable InetSocketAddress[SLOTS];
  private int size;

  /** Returns the socket address of the HCA with this GID, which is given in halves. */
  InetSocketAddress address(long high, long low) {
    int first = (int) (((high * MIX + low) * MIX) >>> SHIFT);
    int slot = first;
    InetSocketAddress known = addresses[slot];
    while (known != null) {
      if (lows[slot] == low && highs[slot] == high) {
        return known;
      }
      slot = slot + 1 & SLOTS - 1;
      known = addresses[slot];
    }
    if (size == MOST) {
      Arrays.fill(addresses, null);
      size = 0;
      slot = first;
    }
    Gid gid = new Gid(high, low);
    InetSocketAddress made = new InetSocketAddress(UdpGid.inetAddress(gid), UdpGid.udpPort(gid));
    highs[slot] = high;
    lows[slot] = low;
    addresses[slot] = made;
    size++;
    return made;
  }
}
