// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import org.jspecify.annotations.Nullable;

/**
 * A use of a foreign buffer's registration, for work requests of this end. The caller retains the
 * buffer until it releases the lease. Leases are pooled: a released lease must not be touched
 * again.
 */
public final class Lease {
  private final RegistrationCache cache;
  private @Nullable CachedRegistration registration;
  private long address;
  private int lkey;

  Lease(RegistrationCache cache) {
    this.cache = cache;
  }

  Lease begin(CachedRegistration newRegistration, long newAddress) {
    registration = newRegistration;
    address = newAddress;
    lkey = newRegistration.lkey();
    return this;
  }

  /** Returns the address of the first byte, for work requests. */
  public long address() {
    return address;
  }

  /** Returns the lkey. */
  public int lkey() {
    return lkey;
  }

  /**
   * Ends the use. May be called by any thread, exactly once.
   *
   * @throws IllegalStateException if it was released already
   */
  public void release() {
    CachedRegistration ended = registration;
    if (ended == null) {
      throw new IllegalStateException("lease: released already");
    }
    registration = null;
    cache.unpin(ended, this);
  }
}
