// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

/** The state of the connection when user code misbehaves. */
enum Moment {
  /** The connection is idle. */
  CONNECTED,
  /** The connection is idle; the user starts the operation in a callback, on the loop. */
  WITHIN,
  /** Messages flow both ways. */
  TRAFFIC,
  /** This end closes gracefully; for connect and bind, the other end does. */
  CLOSING,
  /** The peer vanishes without closing. */
  DYING
}
