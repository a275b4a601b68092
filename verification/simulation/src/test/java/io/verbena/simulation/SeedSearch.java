// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import io.verbena.simulation.scenario.Arena;
import java.util.function.LongUnaryOperator;

/**
 * Runs seeds until one fails. Implements an interface of the JDK, so that a caller can load it
 * together with mutated classes.
 */
public final class SeedSearch implements LongUnaryOperator {
  private final Arena arena = new Arena();
  private final Program program;

  /** Creates a search through the scenarios of the {@link Program} with this name. */
  public SeedSearch(String program) {
    this.program = Program.valueOf(program);
  }

  /**
   * Returns the number of seeds that it took to find a failure, or 0 if {@code most} seeds
   * succeeded.
   */
  @Override
  public long applyAsLong(long most) {
    for (long seed = 0; seed < most; seed++) {
      if (!program.generate(seed).run(arena, null, null).isSuccess()) {
        return seed + 1;
      }
    }
    return 0;
  }
}
