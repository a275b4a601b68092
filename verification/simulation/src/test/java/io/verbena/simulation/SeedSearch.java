// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import io.verbena.simulation.scenario.Arena;
import java.util.function.LongBinaryOperator;

/**
 * Runs seeds until one fails. Implements an interface of the JDK, so that a caller can load it
 * together with mutated classes.
 */
public final class SeedSearch implements LongBinaryOperator {
  private final Arena arena = new Arena();
  private final Program program;

  /** Creates a search through the scenarios of the {@link Program} with this name. */
  public SeedSearch(String program) {
    this.program = Program.valueOf(program);
  }

  /**
   * Returns the first of {@code most} seeds, beginning with {@code from}, whose scenario fails.
   * Returns -1 if all succeed or the thread is interrupted before one fails.
   */
  @Override
  public long applyAsLong(long from, long most) {
    for (long seed = from; seed < from + most && !Thread.currentThread().isInterrupted(); seed++) {
      if (!program.generate(seed).run(arena, null, null).isSuccess()) {
        return seed;
      }
    }
    return -1;
  }
}
