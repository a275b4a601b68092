// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

/** The work of the connection meanwhile. */
enum Moment {
  /** Nothing yet. */
  CONNECTED,
  /** Nothing else; the user begins in a callback, on the loop. */
  WITHIN,
  /** Messages go both ways. */
  TRAFFIC,
  /** This end closes gracefully, or for connect and bind the other end. */
  CLOSING,
  /** The peer goes away without closing. */
  DYING
}
