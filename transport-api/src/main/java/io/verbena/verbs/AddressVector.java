// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The path to a peer's port: its GID on RoCE, its LID within an InfiniBand subnet, both to another
 * InfiniBand subnet.
 *
 * @param destination the peer's GID, 0 if the LID suffices
 * @param sourceGidIndex the index of the local port's GID to send from
 * @param hopLimit the GRH's hop limit, 0 to 255
 * @param trafficClass the GRH's traffic class, 0 to 255
 * @param flowLabel the GRH's flow label, 20 bits
 * @param lid the LID of the peer's port, or of the router to it, 0 on RoCE
 * @param serviceLevel the service level on InfiniBand, 0 to 15
 */
public record AddressVector(
    Gid destination,
    int sourceGidIndex,
    int hopLimit,
    int trafficClass,
    int flowLabel,
    int lid,
    int serviceLevel) {

  /** A path by GID alone. */
  public AddressVector(
      Gid destination, int sourceGidIndex, int hopLimit, int trafficClass, int flowLabel) {
    this(destination, sourceGidIndex, hopLimit, trafficClass, flowLabel, 0, 0);
  }

  /** Returns the path to {@code destination} with the defaults: GID index 0, 64 hops. */
  public static AddressVector to(Gid destination) {
    return new AddressVector(destination, 0, 64, 0, 0);
  }

  /** Returns the path to a port in the same InfiniBand subnet, with service level 0. */
  public static AddressVector toLid(int lid) {
    return new AddressVector(new Gid(0, 0), 0, 64, 0, 0, lid, 0);
  }
}
