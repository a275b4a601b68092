package io.verbena.simulation;

import io.verbena.simulation.scenario.Arena;
import java.util.function.LongUnaryOperator;

/**
 * Runs seeds until one fails. Made and called through an interface of the JDK, so that it can be
 * loaded together with other sources than those of its caller.
 */
public final class SeedSearch implements LongUnaryOperator {
  private final Arena arena = new Arena();
  private final Program program;

  /** A hunt among the runs of the {@link Program} of this name. */
  public SeedSearch(String program) {
    this.program = Program.valueOf(program);
  }

  /** Answers how many seeds it took to see a failure, or 0 if all this many were good. */
  @Override
  public long applyAsLong(long most) {
    for (long seed = 0; seed < most; seed++) {
      if (!program.of(seed).run(arena, null, null).isGood()) {
        return seed + 1;
      }
    }
    return 0;
  }
}
