// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What peers have asked for and what is unfinished, in all and of each IP address, within limits.
 */
final class CountByAddress<T> {
  private final int most;
  private final int mostOfAddress;
  private final Map<T, Gid> addresses = new HashMap<>();
  private final Map<Gid, Integer> ofAddress = new HashMap<>();

  /** Counts to so many in all, and so many of each address. */
  CountByAddress(int most, int mostOfAddress) {
    this.most = most;
    this.mostOfAddress = mostOfAddress;
  }

  /** Whether no more are allowed, whoever asks. */
  boolean isFull() {
    return addresses.size() >= most;
  }

  /** Whether no more are allowed of an address. */
  boolean isFull(Gid address) {
    return ofAddress.getOrDefault(address, 0) >= mostOfAddress;
  }

  void add(T one, Gid address) {
    addresses.put(one, address);
    ofAddress.merge(address, 1, Integer::sum);
  }

  /** The address that it counts for, if it does. */
  @Nullable Gid address(T one) {
    return addresses.get(one);
  }

  /** It is finished, or over. Idempotent. */
  void remove(T one) {
    Gid address = addresses.remove(one);
    if (address != null) {
      ofAddress.computeIfPresent(address, (same, count) -> count == 1 ? null : count - 1);
    }
  }
}
