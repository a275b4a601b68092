// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/**
 * How many connections peers may have with one end.
 *
 * @param halfOpen that peers have asked for and that are unfinished, of all peers
 * @param halfOpenPerPeer the same of one IP address
 * @param perPeer that one IP address has asked for, unfinished or established
 */
public record PeerLimits(int halfOpen, int halfOpenPerPeer, int perPeer) {
  /** Where an address says nothing else. */
  public static final PeerLimits DEFAULT = new PeerLimits(1024, 256, Integer.MAX_VALUE);
}
