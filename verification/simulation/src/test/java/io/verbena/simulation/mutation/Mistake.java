package io.verbena.simulation.mutation;

/**
 * A mistake to make in a source.
 *
 * @param name what is wrong
 * @param file the source, below the sources of the repository
 * @param right a text that stands there once
 * @param wrong what is put in its place
 */
record Mistake(String name, String file, String right, String wrong) {

  /** The source with the mistake in it. */
  String in(String source) {
    int at = source.indexOf(right);
    if (at < 0 || source.indexOf(right, at + 1) >= 0) {
      throw new IllegalStateException(
          name + ": stands in " + file + (at < 0 ? " no more" : " twice") + ": " + right);
    }
    return source.substring(0, at) + wrong + source.substring(at + right.length());
  }

  @Override
  public String toString() {
    return name;
  }
}
