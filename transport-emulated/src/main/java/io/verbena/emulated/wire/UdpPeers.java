package io.verbena.emulated.wire;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Socket addresses by IPv4 address and UDP port, so that sending makes none. It remembers a bounded
 * number of them, and starts over when there are more.
 */
final class UdpPeers {
  private static final int SLOTS = 4096;
  private static final int MOST = SLOTS / 2;
  private static final long MIX = 0x9E3779B97F4A7C15L;
  private static final int SHIFT = Long.SIZE - 12;

  private final long[] keys = new long[SLOTS];
  private final @Nullable InetSocketAddress[] addresses = new @Nullable InetSocketAddress[SLOTS];
  private int size;

  InetSocketAddress address(int address, int port) {
    long key = (long) address << Short.SIZE | port;
    int slot = (int) ((key * MIX) >>> SHIFT);
    InetSocketAddress known = addresses[slot];
    while (known != null) {
      if (keys[slot] == key) {
        return known;
      }
      slot = slot + 1 & SLOTS - 1;
      known = addresses[slot];
    }
    if (size == MOST) {
      Arrays.fill(addresses, null);
      size = 0;
      slot = (int) ((key * MIX) >>> SHIFT);
    }
    InetSocketAddress made = make(address, port);
    keys[slot] = key;
    addresses[slot] = made;
    size++;
    return made;
  }

  private static InetSocketAddress make(int address, int port) {
    byte[] bytes = {
      (byte) (address >>> 24), (byte) (address >>> 16), (byte) (address >>> 8), (byte) address
    };
    try {
      return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
    } catch (UnknownHostException e) {
      throw new AssertionError("four bytes are an address", e);
    }
  }
}
