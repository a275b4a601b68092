// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;

/** Checks the range of a number that a program passes. */
public final class Range {
  private Range() {}

  /**
   * Checks one number.
   *
   * @param verb for the error, as in {@code create queue pair}
   * @param name what the number is
   * @param least the smallest that is allowed
   * @param most the largest that is allowed
   * @throws VerbsException {@code INVALID}, naming the number and its limits
   */
  public static void check(String verb, String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new VerbsException(
          VerbsError.INVALID,
          verb + ": " + name + ": " + value + " (expected: " + least + ".." + most + ")");
    }
  }
}
