// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.VerbsException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** A memory region, and the bytes by which it counts against the limit. Thread-safe. */
final class Registration {
  private static final Logger LOG = System.getLogger(RegisteredMemory.class.getName());

  private final Registrations registrations;
  private final MemoryRegion region;
  private final long charge;
  private final @Nullable DirectMemory source;
  private volatile boolean open = true;

  /** The neighbours in the list of open registrations; guarded by its lock. */
  @Nullable Registration previous;

  @Nullable Registration next;

  /**
   * @param charge the bytes that count against the limit
   * @param source the direct memory that they were allocated from and return to, or null
   */
  Registration(
      Registrations registrations,
      MemoryRegion region,
      long charge,
      @Nullable DirectMemory source) {
    this.registrations = registrations;
    this.region = region;
    this.charge = charge;
    this.source = source;
  }

  MemoryRegion region() {
    return region;
  }

  long charge() {
    return charge;
  }

  @Nullable DirectMemory source() {
    return source;
  }

  boolean isOpen() {
    return open;
  }

  /**
   * Deregisters the region and returns its bytes to the limit. Waits if another thread deregisters
   * it, so that the domain can be closed afterwards. Idempotent; the registration stays open if the
   * HCA refuses.
   */
  void close() {
    if (open && deregister()) {
      registrations.forget(this);
    }
  }

  /**
   * As {@link #close}, but logs a refusal of the HCA. The registration is then still listed as
   * open, and is closed with all others.
   */
  void closeOrLeave() {
    try {
      close();
    } catch (VerbsException e) {
      LOG.log(
          Level.INFO,
          "the HCA keeps " + charge + " bytes registered until the device is closed",
          e);
    }
  }

  private synchronized boolean deregister() {
    if (!open) {
      return false;
    }
    region.close();
    open = false;
    return true;
  }
}
