// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/**
 * Limits on the number of connections that peers may have with one end.
 *
 * @param halfOpen the most unfinished connections requested by all peers
 * @param halfOpenPerPeer the most unfinished connections requested by one IP address
 * @param perPeer the most connections requested by one IP address, unfinished or established
 */
public record PeerLimits(int halfOpen, int halfOpenPerPeer, int perPeer) {
  /** The limits if an address sets none. */
  public static final PeerLimits DEFAULT = new PeerLimits(1024, 256, Integer.MAX_VALUE);
}
