// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

/**
 * A range of memory that a peer may READ, or that a READ of this end writes. The buffer must be
 * retained until the exposure is closed. Thread-safe.
 */
public final class Exposure implements AutoCloseable {
  private final Registration registration;

  Exposure(Registration registration) {
    this.registration = registration;
  }

  /** Returns the address of the first byte, for the peer. */
  public long address() {
    return registration.region().address();
  }

  /** Returns the rkey. */
  public int rkey() {
    return registration.region().rkey();
  }

  /** Returns the lkey. */
  public int lkey() {
    return registration.region().lkey();
  }

  /** Deregisters the range: the key is invalid at once. Idempotent. */
  @Override
  public void close() {
    registration.close();
  }
}
