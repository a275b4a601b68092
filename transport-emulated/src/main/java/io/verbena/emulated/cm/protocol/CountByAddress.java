// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts unfinished requests of peers, in all and for each IP address, within limits. */
final class CountByAddress<T> {
  private final int most;
  private final int mostOfAddress;
  private final Map<T, Gid> addresses = new HashMap<>();
  private final Map<Gid, Integer> ofAddress = new HashMap<>();

  /** Counts up to {@code most} in all, and up to {@code mostOfAddress} for each address. */
  CountByAddress(int most, int mostOfAddress) {
    this.most = most;
    this.mostOfAddress = mostOfAddress;
  }

  /** Returns whether no more are allowed of any address. */
  boolean isFull() {
    return addresses.size() >= most;
  }

  /** Returns whether no more are allowed of an address. */
  boolean isFull(Gid address) {
    return ofAddress.getOrDefault(address, 0) >= mostOfAddress;
  }

  void add(T one, Gid address) {
    addresses.put(one, address);
    ofAddress.merge(address, 1, Integer::sum);
  }

  /** Returns the address that it counts for, or null if it is not counted. */
  @Nullable Gid address(T one) {
    return addresses.get(one);
  }

  /** Stops counting one that is finished, or over. Idempotent. */
  void remove(T one) {
    Gid address = addresses.remove(one);
    if (address != null) {
      ofAddress.computeIfPresent(address, (same, count) -> count == 1 ? null : count - 1);
    }
  }
}
