// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.mutation;

/**
 * A mistake to make in a source file.
 *
 * @param name a description of the mistake
 * @param file the path of the source file in the repository
 * @param right a text that occurs once in the file
 * @param wrong the text that replaces it
 * @param firstSeed the first seed to try; more than 0 where seeds that detect it are rare
 */
record Mistake(String name, String file, String right, String wrong, long firstSeed) {
  Mistake(String name, String file, String right, String wrong) {
    this(name, file, right, wrong, 0);
  }

  /** Returns this mistake with {@code seed} as the first seed to try. */
  Mistake startingAt(long seed) {
    return new Mistake(name, file, right, wrong, seed);
  }

  /** Returns the source with the mistake. */
  String in(String source) {
    int at = source.indexOf(right);
    if (at < 0 || source.indexOf(right, at + 1) >= 0) {
      throw new IllegalStateException(
          name + ": occurs in " + file + (at < 0 ? " no longer" : " twice") + ": " + right);
    }
    return source.substring(0, at) + wrong + source.substring(at + right.length());
  }

  @Override
  public String toString() {
    return name;
  }
}
