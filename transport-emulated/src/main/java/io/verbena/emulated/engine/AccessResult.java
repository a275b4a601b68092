// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/** The result of checking an access to memory. */
public enum AccessResult {
  /** The access is allowed, and done if it moves data. */
  GRANTED,
  /**
   * The key is unknown or dead, belongs to another protection domain or, for a type 2 window, to
   * another queue pair, or does not cover the range or the right. Causes LOC_PROT locally, NAK 0x62
   * to a peer.
   */
  REFUSED,
  /**
   * The access is allowed, but the memory itself is gone. Causes LOC_PROT locally, NAK 0x63 to a
   * peer.
   */
  FAILED
}
