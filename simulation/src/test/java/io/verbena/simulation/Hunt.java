package io.verbena.simulation;

import java.util.function.LongUnaryOperator;

/**
 * Runs seeds until one fails. Made and called through an interface of the JDK, so that it can be
 * loaded together with another emulated HCA than the one of its caller.
 */
public final class Hunt implements LongUnaryOperator {
  private final Arena arena = new Arena();

  /** Answers how many seeds it took to see a failure, or 0 if all this many were good. */
  @Override
  public long applyAsLong(long most) {
    for (long seed = 0; seed < most; seed++) {
      if (!Outcome.of(Plan.of(seed), arena).isGood()) {
        return seed + 1;
      }
    }
    return 0;
  }
}
