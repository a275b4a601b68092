package io.verbena.core.memory;

import org.jspecify.annotations.Nullable;

/**
 * The use of a registration of memory from elsewhere, for work requests of this end. The buffer
 * must be retained until it is released. Leases are reused: one that was released must not be
 * touched again.
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

  /** The address of the first byte, for work requests. */
  public long address() {
    return address;
  }

  /** The key by which work requests name it. */
  public int lkey() {
    return lkey;
  }

  /**
   * Ends the use; from any thread, exactly once.
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
