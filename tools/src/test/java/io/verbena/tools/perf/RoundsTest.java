// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RoundsTest {
  @Test
  void goOnBeyondTheirTimeUntilOneCounts() {
    Rounds rounds = new Rounds(0, Duration.ZERO, 1);

    while (rounds.hasNext()) {
      rounds.begin();
    }

    assertThat(rounds.latency(8).count()).isOne();
  }
}
