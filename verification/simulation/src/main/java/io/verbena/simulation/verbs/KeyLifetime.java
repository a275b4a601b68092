// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

/** A remote key, from the operation that grants it to the one that revokes it. */
final class KeyLifetime {
  final int value;

  /** The address of the first byte that the key covers. */
  final long address;

  /** Whether peers may only read. */
  final boolean readOnly;

  /** The number of accesses that were posted with the key and have not completed. */
  int outstandingUses;

  private boolean active;
  private boolean revoking;
  private boolean revoked;

  KeyLifetime(int value, long address, boolean readOnly) {
    this.value = value;
    this.address = address;
    this.readOnly = readOnly;
  }

  /** Called when the operation that grants the key has completed. */
  void activate() {
    active = true;
  }

  /**
   * Called when an operation that revokes the key is posted. Until it completes, accesses may
   * succeed or fail.
   */
  void startRevoking() {
    revoking = true;
  }

  /** Called when an operation that revokes the key has completed. */
  void revoke() {
    revoking = true;
    revoked = true;
  }

  /** Returns whether an access with the key must succeed. */
  boolean isValid() {
    return active && !revoking;
  }

  boolean isRevoking() {
    return revoking;
  }

  /** Returns whether an access with the key must fail. */
  boolean isRevoked() {
    return revoked;
  }

  @Override
  public String toString() {
    return Integer.toHexString(value)
        + (revoked ? " revoked" : revoking ? " revoking" : active ? "" : " pending");
  }
}
