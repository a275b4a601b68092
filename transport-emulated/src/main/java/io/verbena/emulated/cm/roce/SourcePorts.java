// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

/**
 * The ports that the identifiers of an HCA ask from, out of the dynamic ones (RFC 6335, section 6).
 * No two that are open have the same while there are fewer than 16,384 of them. Thread-safe.
 */
final class SourcePorts {
  private static final int FIRST = 0xc000;
  private static final int COUNT = 0x1_0000 - FIRST;

  private final int[] users = new int[COUNT];
  private int next;

  /**
   * All of them, free.
   *
   * @param seed decides where the search begins, so that two processes at one address rarely meet
   */
  SourcePorts(int seed) {
    next = Math.floorMod(seed, COUNT);
  }

  /** Takes a port; one that others have too only if none is free. */
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

  /** Gives a port back that was taken. */
  synchronized void giveBack(int port) {
    users[port - FIRST]--;
  }
}
