// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * The source ports of active ends at an IP address, taken from the dynamic ports (RFC 6335, section
 * 6). All HCAs of this JVM at the address share them. No two open identifiers have the same port
 * unless more than 16,384 are open. Thread-safe.
 */
final class SourcePorts {
  private static final int FIRST = 0xc000;
  private static final int COUNT = 0x1_0000 - FIRST;

  /** The ports of each address that an HCA uses; also guards {@link #holders}. */
  private static final Map<InetAddress, SourcePorts> SHARED = new HashMap<>();

  private final InetAddress address;
  private final int[] users = new int[COUNT];
  private int next;
  private int holders;

  private SourcePorts(InetAddress address, int seed) {
    this.address = address;
    next = Math.floorMod(seed, COUNT);
  }

  /**
   * Returns the ports of an address; the caller calls {@link #release} at the end.
   *
   * @param seed determines where the search for a port begins, so that two processes at one address
   *     rarely collide
   */
  static SourcePorts of(InetAddress address, int seed) {
    synchronized (SHARED) {
      SourcePorts ports = SHARED.computeIfAbsent(address, absent -> new SourcePorts(absent, seed));
      ports.holders++;
      return ports;
    }
  }

  /** Ends one use of the ports; the last release removes them. */
  void release() {
    synchronized (SHARED) {
      if (--holders == 0) {
        SHARED.remove(address);
      }
    }
  }

  /** Takes a free port, or a used one if none is free. */
  synchronized int take() {
    int found = next;
    for (int i = 0; i < COUNT; i++) {
      int candidate = (next + i) % COUNT;
      if (users[candidate] == 0) {
        found = candidate;
        break;
      }
    }
    users[found]++;
    next = (found + 1) % COUNT;
    return FIRST + found;
  }

  /** Gives back a port. */
  synchronized void giveBack(int port) {
    users[port - FIRST]--;
  }
}
