// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

/** The medium that carries the queue pairs of a scenario. */
enum Medium {
  /** RoCEv2 packets on a wire. */
  PACKETS,
  /** iWARP on connections of TCP. */
  STREAMS
}
