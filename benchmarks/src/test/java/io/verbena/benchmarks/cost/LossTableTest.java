// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LossTableTest {
  private static final Loss FAST = new Loss(100, 60, 1000, 1080, 270, 10);
  private static final Loss SLOW = new Loss(10, 5, 1000, 1090, 300, 10);
  private static final Loss FASTEST = new Loss(200, 140, 1000, 1030, 200, 10);

  @Test
  void comparesWithinATurnSoThatASlowTurnOfTheMachineCancelsOut() {
    String table = LossTable.of(Map.of("roce > roce", List.of(FAST, SLOW, FASTEST)));

    assertThat(table.lines())
        .anyMatch(line -> line.startsWith("roce > roce") && line.contains("0.60  (0.50 .. 0.70)"));
  }

  @Test
  void countsWhatWasSentAgainForEachPacketThatWasLost() {
    assertThat(FAST.again()).isEqualTo(8);
    assertThat(FAST.spacing()).isEqualTo(4);
  }

  @Test
  void losesNothingWhereNothingIsLost() {
    assertThat(new Loss(100, 100, 1000, 1000, 0, 0).again()).isZero();
  }
}
