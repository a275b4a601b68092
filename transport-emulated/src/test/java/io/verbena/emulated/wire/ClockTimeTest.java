// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClockTimeTest {
  private final ClockTime time = new ClockTime();
  private final List<String> ran = new ArrayList<>();

  @Test
  void runsWhatIsDueAtOnceWhereThereIsNoWork() {
    set("first", 0);
    set("second", 1);
    set("later", Long.MAX_VALUE / 2);

    assertThat(time.runDue(8, 0)).isEqualTo(2);
    assertThat(ran).containsExactly("first", "second");
    assertThat(time.runDue(8, 0)).isZero();
  }

  @Test
  void runsNoMoreThanAsked() {
    set("first", 0);
    set("second", 1);

    assertThat(time.runDue(1, 0)).isEqualTo(1);
    assertThat(time.runDue(1, 0)).isEqualTo(1);
    assertThat(ran).containsExactly("first", "second");
  }

  @Test
  void looksAfterSomeRoundsOfWorkHoweverMuchThereIs() {
    for (int repetition = 0; repetition < 3; repetition++) {
      set("due", 0);
      assertThat(roundsUntilDue()).isEqualTo(4);
    }
  }

  @Test
  void looksAtOnceAfterMuchWork() {
    set("due", 0);

    assertThat(time.runDue(8, 32)).isEqualTo(1);
  }

  @Test
  void looksSoonThoughMuchWorkWasDoneWithoutAlarms() {
    for (int i = 0; i < 10_000; i++) {
      assertThat(time.runDue(8, 1 << 20)).isZero();
    }
    set("due", 0);
    assertThat(roundsUntilDue()).isLessThanOrEqualTo(4);
  }

  private int roundsUntilDue() {
    int rounds = 1;
    while (time.runDue(8, 1) == 0) {
      assertThat(++rounds).as("rounds").isLessThan(100);
    }
    return rounds;
  }

  private void set(String name, long deadline) {
    time.alarm(() -> ran.add(name)).set(deadline);
  }
}
