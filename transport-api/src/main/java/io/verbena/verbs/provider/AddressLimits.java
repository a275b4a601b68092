// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.VerbsException;

/** Checks the address vector of a peer, before a verb does anything. */
public final class AddressLimits {
  private AddressLimits() {}

  /**
   * Checks the ranges of a vector's numbers.
   *
   * @param verb the verb, for the error, for example {@code create address handle}
   * @param gids the number of GIDs of the local port
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
