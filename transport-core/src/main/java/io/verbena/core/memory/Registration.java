// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.VerbsException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** A memory region and the bytes that it counts against the limit. Thread-safe. */
final class Registration {
  private static final Logger LOG = System.getLogger(RegisteredMemory.class.getName());

  private final Registrations registrations;
  private final MemoryRegion region;
  private final long charge;
  private final @Nullable DirectMemory source;
  private volatile boolean open = true;

  /** The neighbours in the list of what is open, under its lock. */
  @Nullable Registration previous;

  @Nullable Registration next;

  /**
   * @param charge bytes that it counts against the limit
   * @param source what they were allocated from and go back to, or null
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
   * Deregisters the region and returns its bytes. Waits for another thread that does: the domain
   * can be closed afterwards. Idempotent; stays open if the HCA refuses.
   */
  void close() {
    if (open && deregister()) {
      registrations.forget(this);
    }
  }

  /**
   * As {@link #close}, on the way to something else. What the HCA refuses is logged: it still
   * stands among what is open, and is closed with all that.
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
