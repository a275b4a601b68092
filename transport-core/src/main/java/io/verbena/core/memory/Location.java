// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import org.jspecify.annotations.Nullable;

/**
 * Address and lkey of bytes: what a scatter/gather entry needs besides the length. Mutable, so that
 * its owner can reuse it; not thread-safe.
 */
public final class Location {
  private long address;
  private int lkey;
  private @Nullable Lease lease;

  /** The address of the first byte, as {@link RegisteredMemory#locate} found it last. */
  public long address() {
    return address;
  }

  /** The key of the region that the bytes lie in. */
  public int lkey() {
    return lkey;
  }

  /** Returns the lease that the bytes have from {@link RegisteredMemory#reach}, once; or null. */
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
