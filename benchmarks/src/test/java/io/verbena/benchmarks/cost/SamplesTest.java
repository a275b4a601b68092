// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SamplesTest {

  @Test
  void isThreeOrdersAtOnce() {
    Samples samples = new Samples(List.of(30.0, 10.0, 20.0));

    assertThat(samples.least()).isEqualTo(10);
    assertThat(samples.median()).isEqualTo(20);
    assertThat(samples.most()).isEqualTo(30);
  }

  @Test
  void dividesTurnByTurnSoThatASlowTurnOfTheMachineCancelsOut() {
    Samples ours = new Samples(List.of(12.0, 120.0, 11.0));
    Samples theirs = new Samples(List.of(10.0, 100.0, 10.0));

    Samples ratios = ours.over(theirs);

    assertThat(ratios.values()).containsExactly(1.2, 1.2, 1.1);
  }

  @Test
  void refusesToDivideByOtherTurns() {
    Samples ours = new Samples(List.of(1.0));

    assertThatThrownBy(() -> ours.over(new Samples()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("repetitions: 1 (expected: 0)");
  }

  @Test
  void printsALineForEachWithItsRatio() {
    Map<String, Samples> participants = new LinkedHashMap<>();
    participants.put("perftest", new Samples(List.of(40.0, 50.0)));
    participants.put("verbs SPI", new Samples(List.of(44.0, 60.0)));

    String table = CostTable.of("a job", participants, "perftest");

    assertThat(table.lines())
        .anyMatch(line -> line.startsWith("verbs SPI") && line.contains("1.10  (1.10 .. 1.20)"));
  }
}
