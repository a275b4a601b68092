// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.verbena.benchmarks.work.Measurement;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FiguresTest {
  private static final Measurement MEASUREMENT =
      new Measurement(List.of(3e6, 1e6, 2e6), List.of(9.0, 7.0, 8.0), 0.5);

  @Test
  void areReadBackFromBetweenOtherOutput() {
    Figures figures = new Figures(MEASUREMENT, 100, 120.5, 0.25);
    assertThat(Figures.decode("a warning\n" + figures.encode() + "\nbye\n")).isEqualTo(figures);
  }

  @Test
  void areNotReadFromACaseThatDidNotFinish() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Figures.decode("figures.values=1,2,3\n"))
        .withMessageContaining("p99");
  }

  @Test
  void takeTheMiddleRepetition() {
    Figures figures = new Figures(MEASUREMENT, 100, 100, 0);
    assertThat(figures.median()).isEqualTo(2e6);
    assertThat(figures.least()).isEqualTo(1e6);
    assertThat(figures.most()).isEqualTo(3e6);
    assertThat(figures.p99()).isEqualTo(8);
  }

  @Test
  void areDisturbedWhenTheLineMoreThanDoubledOrHalved() {
    assertThat(new Figures(MEASUREMENT, 100, 199, 0).disturbed()).isFalse();
    assertThat(new Figures(MEASUREMENT, 100, 201, 0).disturbed()).isTrue();
    assertThat(new Figures(MEASUREMENT, 201, 100, 0).disturbed()).isTrue();
  }

  @Test
  void areDisturbedWhenOthersUsedTheCpus() {
    assertThat(new Figures(MEASUREMENT, 100, 100, 0.2).disturbed()).isFalse();
    assertThat(new Figures(MEASUREMENT, 100, 100, 0.3).disturbed()).isTrue();
  }
}
