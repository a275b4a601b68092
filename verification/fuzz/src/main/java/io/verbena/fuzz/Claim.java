// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

/** A condition that must hold for every input. */
public final class Claim {
  private Claim() {}

  /** Throws unless {@code holds}. */
  public static void that(boolean holds, String claim) {
    if (!holds) {
      throw new AssertionError(claim);
    }
  }
}
