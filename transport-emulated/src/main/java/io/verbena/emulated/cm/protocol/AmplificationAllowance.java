// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the additional messages, besides one answer for each request, to IP addresses with
 * unproven peers; see {@link AmplificationLimit}. The small allowance of each address prevents
 * floods by forged requests. Messages return to the allowance when the peer is proven or the
 * connection is forgotten. Bounded by the number of these connections.
 */
final class AmplificationAllowance {
  /** The most additional messages to one address at once. */
  static final int MOST = 16;

  private final Map<Gid, Integer> ofAddress = new HashMap<>();

  /** Takes one message from the address's allowance; returns false if none is left. */
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
