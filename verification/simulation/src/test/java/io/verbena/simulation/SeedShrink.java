// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Scenario;
import java.util.function.LongUnaryOperator;

/**
 * Shrinks the scenario of a seed that fails. Implements an interface of the JDK, so that a caller
 * can load it together with mutated classes.
 */
public final class SeedShrink implements LongUnaryOperator {
  private static final int MAX_RUNS = 5000;

  private final Program program;

  /** Shrinks scenarios of the {@link Program} with this name. */
  public SeedShrink(String program) {
    this.program = Program.valueOf(program);
  }

  /**
   * Returns the number of steps of the shrunken scenario of a seed, or 0 if that scenario does not
   * fail.
   */
  @Override
  public long applyAsLong(long seed) {
    Scenario shrunken = new Shrinker(MAX_RUNS).shrink(program.generate(seed));
    return shrunken.run(new Arena(), null, null).isSuccess() ? 0 : shrunken.stepCount();
  }
}
