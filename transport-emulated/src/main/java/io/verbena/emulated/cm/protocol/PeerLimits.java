// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/**
 * Limits on the number of connections that peers may request of one HCA.
 *
 * @param halfOpen the most half-open connections requested by all peers
 * @param halfOpenPerPeer the most half-open connections requested by one IP address
 * @param perPeer the most connections requested by one IP address, half-open or established
 */
public record PeerLimits(int halfOpen, int halfOpenPerPeer, int perPeer) {
  /** The limits of addresses without options. */
  public static final PeerLimits DEFAULT = new PeerLimits(1024, 256, Integer.MAX_VALUE);
}
