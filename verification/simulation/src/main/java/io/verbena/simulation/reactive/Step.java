// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

/**
 * One step of a scenario.
 *
 * @param number its index in the generated scenario, for the trace
 * @param end the end that executes it, 0 or 1
 * @param action the action
 * @param seed the seed of all random choices in the step
 */
record Step(int number, int end, Action action, long seed) {

  @Override
  public String toString() {
    return "#" + number + " end " + end + ": " + action;
  }
}
