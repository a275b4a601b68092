// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

/** What the connection is doing meanwhile. */
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
