package io.verbena.simulation.reactive;

/**
 * One step of a script.
 *
 * @param number its number in the whole script, for people
 * @param side 0 or 1: the end that does it
 * @param act what it does
 * @param salt what all chance in it is made of
 */
record Step(int number, int side, Action act, long salt) {

  @Override
  public String toString() {
    return "#" + number + " end " + side + ": " + act;
  }
}
