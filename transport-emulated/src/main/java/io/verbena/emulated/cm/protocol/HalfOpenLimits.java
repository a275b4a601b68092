// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/**
 * How many connections that peers have asked for may be unfinished at once.
 *
 * @param total of all peers
 * @param perPeer of one IP address
 */
public record HalfOpenLimits(int total, int perPeer) {
  /** Where an address says nothing else. */
  public static final HalfOpenLimits DEFAULT = new HalfOpenLimits(1024, 256);
}
