// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

/** The operations that a peer gives credits for. */
public enum Credit {
  /** A receive that the peer has posted, for one SEND or one WRITE with immediate. */
  RECEIVE,
  /** A message that the peer's subscriber has requested, or has room for. */
  MESSAGE,
  /** An immediate that the peer has room for. */
  IMMEDIATE
}
