// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AxisTest {
  @ParameterizedTest
  @CsvSource({"0.57, 0.6, 0.1", "3.3, 4, 1", "100, 100, 20", "106, 120, 20", "930, 1000, 200"})
  void endsAtTheRoundNumberThatHoldsTheMost(double most, double end, double step) {
    Axis axis = Axis.holding(most);

    assertThat(axis.end()).isCloseTo(end, within(end));
    assertThat(axis.step()).isCloseTo(step, within(step));
    assertThat(axis.ticks()).startsWith(0.0).hasSizeBetween(3, 7);
  }

  private static Offset<Double> within(double value) {
    return Offset.offset(value * 1e-9);
  }
}
