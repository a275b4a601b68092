// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/** What memory protection answers to an access. */
public enum Grant {
  /** Allowed, and done if there was something to do. */
  GRANTED,
  /**
   * The key is unknown or dead, or names memory of another protection domain, or, for a type 2
   * window, of another queue pair; or the range or a right is missing. LOC_PROT at home, NAK 0x62
   * to a peer.
   */
  REFUSED,
  /** Allowed, but the memory itself is gone. LOC_PROT at home, NAK 0x63 to a peer. */
  FAILED
}
