// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The way to a peer's port. On RoCE the GRH is mandatory, so there is no LID.
 *
 * @param destination the peer's GID
 * @param sourceGidIndex which of the local port's GIDs to send from
 * @param hopLimit the GRH's hop limit, 0 to 255
 * @param trafficClass the GRH's traffic class, 0 to 255
 * @param flowLabel the GRH's flow label, 20 bits
 */
public record AddressVector(
    Gid destination, int sourceGidIndex, int hopLimit, int trafficClass, int flowLabel) {

  /** The way to {@code destination} with the defaults: GID index 0, 64 hops. */
  public static AddressVector to(Gid destination) {
    return new AddressVector(destination, 0, 64, 0, 0);
  }
}
