// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

/** What the queue pairs of a scenario talk over. */
enum Medium {
  /** RoCEv2 packets on a wire. */
  PACKETS,
  /** iWARP on connections of TCP. */
  STREAMS
}
