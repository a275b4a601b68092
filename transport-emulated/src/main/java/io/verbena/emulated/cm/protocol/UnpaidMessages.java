// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.Map;

/**
 * Messages beyond the answers that were sent to IP addresses, for connections whose peers have not
 * shown yet that they take them. The few allowed for each address prevent a flood by forged
 * requests. They return to the allowance when the peer proves itself, or the connection is
 * forgotten. Bounded by the number of those connections.
 */
final class UnpaidMessages {
  /** The most to one address at once. */
  static final int MOST = 16;

  private final Map<Gid, Integer> ofAddress = new HashMap<>();

  /** Takes one message from the address's allowance; false if none is left. */
  boolean take(Gid address) {
    int taken = ofAddress.getOrDefault(address, 0);
    if (taken >= MOST) {
      return false;
    }
    ofAddress.put(address, taken + 1);
    return true;
  }

  /** Returns {@code count} messages to the address's allowance. */
  void giveBack(Gid address, int count) {
    ofAddress.computeIfPresent(address, (same, taken) -> taken > count ? taken - count : null);
  }
}
