// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import java.util.ArrayList;
import java.util.List;

/**
 * One step of a scenario.
 *
 * @param number the index of the step in the generated scenario, for the trace
 * @param connection the index of the connection
 * @param end the end that executes it, 0 or 1
 * @param action the action
 * @param count the number of messages, operations or milliseconds
 * @param maxLength the maximum bytes of a message or operation of the step
 * @param seed the seed of all random choices in the step
 */
record Step(
    int number, int connection, int end, Action action, int count, int maxLength, long seed) {

  private static final int SHORT = 64;

  /** Returns steps that do less, the least first. */
  List<Step> smaller() {
    List<Step> steps = new ArrayList<>();
    if (count > 1 && action != Action.MISBEHAVE) {
      steps.add(with(1, maxLength));
      if (count > 3) {
        steps.add(with(count / 2, maxLength));
      }
      steps.add(with(count - 1, maxLength));
    }
    if (maxLength > SHORT) {
      steps.add(with(count, SHORT));
    }
    return steps;
  }

  private Step with(int newCount, int newMaxLength) {
    return new Step(number, connection, end, action, newCount, newMaxLength, seed);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("#" + number + " end " + end + ": " + action + ' ');
    if (action == Action.MISBEHAVE) {
      text.append(Mischief.of(count));
    } else {
      text.append(count);
    }
    if (connection > 0) {
      text.append(" on connection ").append(connection);
    }
    if (maxLength != Integer.MAX_VALUE) {
      text.append(", up to ").append(maxLength).append(" B");
    }
    return text.toString();
  }
}
