// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import org.jspecify.annotations.Nullable;

/**
 * Address and lkey of bytes, for a scatter/gather entry. Mutable, so that its owner can reuse it;
 * not thread-safe.
 */
public final class Location {
  private long address;
  private int lkey;
  private @Nullable Lease lease;

  /**
   * Returns the address of the first byte, as {@link RegisteredMemory#locate} or {@link
   * RegisteredMemory#reach} found it last.
   */
  public long address() {
    return address;
  }

  /** Returns the lkey of the region that contains the bytes. */
  public int lkey() {
    return lkey;
  }

  /**
   * Returns the lease of {@link RegisteredMemory#reach}, which then belongs to the caller; null if
   * there is none or it was taken.
   */
  public @Nullable Lease takeLease() {
    Lease taken = lease;
    if (taken != null) {
      lease = null;
    }
    return taken;
  }

  void set(Lease newLease) {
    set(newLease.address(), newLease.lkey());
    lease = newLease;
  }

  void set(long newAddress, int newLkey) {
    address = newAddress;
    lkey = newLkey;
  }
}
