// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;

/** Checks the ranges of numbers that programs pass. */
public final class Range {
  private Range() {}

  /**
   * Checks one number.
   *
   * @param verb the verb, for the error, for example {@code create queue pair}
   * @param name the name of the number
   * @param least the smallest allowed value
   * @param most the largest allowed value
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
