// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/** The answer of memory protection to an access. */
public enum AccessResult {
  /** The access is allowed, and done if it moves data. */
  GRANTED,
  /**
   * The key is unknown or dead, or names memory of another protection domain, or, for a type 2
   * window, of another queue pair; or the range or a right is missing. It causes LOC_PROT locally,
   * NAK 0x62 to a peer.
   */
  REFUSED,
  /**
   * The access is allowed, but the memory itself is gone. It causes LOC_PROT locally, NAK 0x63 to a
   * peer.
   */
  FAILED
}
