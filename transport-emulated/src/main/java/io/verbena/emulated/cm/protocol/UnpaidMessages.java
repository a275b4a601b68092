// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.Map;

/**
 * Messages that have gone to IP addresses unasked, for connections whose peers have not shown that
 * they take them: so few for each address that requests in its name make no flood. They are had
 * back when the peer proves itself, or the connection is forgotten. Bounded by the number of those
 * connections.
 */
final class UnpaidMessages {
  /** To one address at once. */
  static final int MOST = 16;

  private final Map<Gid, Integer> ofAddress = new HashMap<>();

  /** Takes one to an address; false if there are too many. */
  boolean take(Gid address) {
    int taken = ofAddress.getOrDefault(address, 0);
    if (taken >= MOST) {
      return false;
    }
    ofAddress.put(address, taken + 1);
    return true;
  }

  /** So many are had back. */
  void giveBack(Gid address, int count) {
    ofAddress.computeIfPresent(address, (same, taken) -> taken > count ? taken - count : null);
  }
}
