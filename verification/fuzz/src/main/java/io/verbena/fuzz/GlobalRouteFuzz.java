// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Fuzzes the parser of the 40 bytes of GRH in front of a datagram. The first byte of the input
 * chooses whether the GRH names this port, which random bytes would hardly do.
 */
public final class GlobalRouteFuzz {
  private static final Gid OTHER = new Gid(0xfe80_0000_0000_0000L, 7);

  private GlobalRouteFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    if (data.length == 0) {
      return;
    }
    ByteBuffer area = ByteBuffer.wrap(data, 1, data.length - 1);
    List<Gid> local = (data[0] & 1) == 0 ? named(area) : List.of(OTHER);
    AddressVector way;
    try {
      way = GlobalRoute.back(area, local);
    } catch (VerbsException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
      return;
    } finally {
      Claim.that(area.position() == 1, "reading moves nothing");
    }
    int index = way.sourceGidIndex();
    Claim.that(index >= 0 && index < local.size(), "one of the port's GIDs");
    Claim.that(way.hopLimit() >= 0 && way.hopLimit() <= 255, "a hop limit");
    Claim.that(way.trafficClass() >= 0 && way.trafficClass() <= 255, "a traffic class");
    Claim.that(way.flowLabel() >= 0 && way.flowLabel() < 1 << 20, "a flow label");
    Gid here = local.get(index);
    if (GlobalRoute.isIpv4(here) != GlobalRoute.isIpv4(way.destination())) {
      // An IPv6 header may name an IPv4 address, at one end or at both.
      return;
    }
    ByteBuffer answer = ByteBuffer.allocate(GlobalRoute.LENGTH);
    GlobalRoute.write(answer, way, here, 0, 0);
    Claim.that(
        GlobalRoute.back(answer, List.of(way.destination())).destination().equals(here),
        "an answer that leads back here");
  }

  /** Returns the GIDs that the GRH may name as its destination, and another one. */
  private static List<Gid> named(ByteBuffer area) {
    if (area.remaining() < GlobalRoute.LENGTH) {
      return List.of(OTHER);
    }
    ByteBuffer bytes = area.slice();
    return List.of(
        OTHER,
        new Gid(bytes.getLong(24), bytes.getLong(32)),
        new Gid(0, 0xffff_0000_0000L | (bytes.getInt(36) & 0xffff_ffffL)));
  }
}
