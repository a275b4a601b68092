// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts requests or connections of peers, in total and by IP address, against limits. */
final class CountByAddress<T> {
  private final int most;
  private final int mostOfAddress;
  private final Map<T, Gid> addresses = new HashMap<>();
  private final Map<Gid, Integer> ofAddress = new HashMap<>();

  /** Creates a counter with limits in total and for each address. */
  CountByAddress(int most, int mostOfAddress) {
    this.most = most;
    this.mostOfAddress = mostOfAddress;
  }

  /** Returns whether the total limit is reached. */
  boolean isFull() {
    return addresses.size() >= most;
  }

  /** Returns whether the limit of an address is reached. */
  boolean isFull(Gid address) {
    return ofAddress.getOrDefault(address, 0) >= mostOfAddress;
  }

  void add(T one, Gid address) {
    addresses.put(one, address);
    ofAddress.merge(address, 1, Integer::sum);
  }

  /** Returns the address under which an object is counted; null if it is not counted. */
  @Nullable Gid address(T one) {
    return addresses.get(one);
  }

  /** Stops counting an object. Idempotent. */
  void remove(T one) {
    Gid address = addresses.remove(one);
    if (address != null) {
      ofAddress.computeIfPresent(address, (same, count) -> count == 1 ? null : count - 1);
    }
  }
}
