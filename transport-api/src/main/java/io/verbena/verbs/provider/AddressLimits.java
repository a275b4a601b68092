// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.VerbsException;

/** Checks the address vector of a peer, before anything is done. */
public final class AddressLimits {
  private AddressLimits() {}

  /**
   * Checks what of a vector has a range.
   *
   * @param verb for the error, as in {@code create address handle}
   * @param gids GIDs of the local port
   * @throws VerbsException {@code INVALID}, naming the number and its limits
   */
  public static void check(String verb, AddressVector vector, int gids) {
    Range.check(verb, "source GID index", vector.sourceGidIndex(), 0, gids - 1);
    Range.check(verb, "hop limit", vector.hopLimit(), 0, 0xff);
    Range.check(verb, "traffic class", vector.trafficClass(), 0, 0xff);
    Range.check(verb, "flow label", vector.flowLabel(), 0, 0xf_ffff);
    Range.check(verb, "LID", vector.lid(), 0, 0xffff);
    Range.check(verb, "service level", vector.serviceLevel(), 0, 0xf);
  }
}
