// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

import java.util.ArrayList;
import java.util.List;

/**
 * An axis that begins at 0.
 *
 * @param end the value at its end
 * @param step the distance between two ticks
 */
record Axis(double end, double step) {
  private static final int MOST_TICKS = 6;
  private static final double[] NICE = {1, 2, 5, 10};

  /** Returns the shortest axis with few, round ticks that covers a value. */
  static Axis holding(double most) {
    double rough = Math.max(most, Double.MIN_NORMAL) / MOST_TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    for (double nice : NICE) {
      double step = nice * power;
      if (step * MOST_TICKS >= most) {
        return new Axis(step * Math.ceil(most / step), step);
      }
    }
    throw new IllegalArgumentException("most: " + most + " (expected: a positive number)");
  }

  /** Returns the values of its ticks. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    for (int i = 0; i <= Math.round(end / step); i++) {
      ticks.add(i * step);
    }
    return ticks;
  }
}
