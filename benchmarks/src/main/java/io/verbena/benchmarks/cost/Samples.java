// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.util.ArrayList;
import java.util.List;

/**
 * The figures of a job, one for each repetition.
 *
 * @param values in the order of the repetitions
 */
record Samples(List<Double> values) {

  Samples() {
    this(new ArrayList<>());
  }

  void add(double value) {
    values.add(value);
  }

  double median() {
    return percentile(0.5);
  }

  double least() {
    return percentile(0);
  }

  double most() {
    return percentile(1);
  }

  /**
   * Returns the ratio of each figure to the other's figure of the same repetition: a machine that
   * is slow for a while is slow for both.
   */
  Samples over(Samples other) {
    if (values.size() != other.values.size()) {
      throw new IllegalArgumentException(
          "repetitions: " + values.size() + " (expected: " + other.values.size() + ")");
    }
    Samples ratios = new Samples();
    for (int i = 0; i < values.size(); i++) {
      ratios.add(values.get(i) / other.values.get(i));
    }
    return ratios;
  }

  private double percentile(double part) {
    List<Double> sorted = values.stream().sorted().toList();
    return sorted.get((int) (part * (sorted.size() - 1)));
  }
}
