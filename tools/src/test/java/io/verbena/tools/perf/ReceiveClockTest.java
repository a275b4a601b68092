// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReceiveClockTest {
  private static final int MANY = 64;

  private final ReceiveClock clock = new ReceiveClock();

  @Test
  void timesNothingThatCameBeforeItWasRead() {
    clock.came(MANY, 100);

    assertThat(clock.count()).isEqualTo(MANY);
    assertThat(clock.timed()).isZero();
    assertThat(clock.nanos()).isZero();
  }

  @Test
  void timesWhatCameSince() {
    clock.came(MANY, 100);
    clock.came(3, 150);
    clock.came(4, 200);

    assertThat(clock.count()).isEqualTo(MANY + 7);
    assertThat(clock.timed()).isEqualTo(7);
    assertThat(clock.nanos()).isEqualTo(100);
  }
}
