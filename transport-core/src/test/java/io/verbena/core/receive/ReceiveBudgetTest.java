// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
class ReceiveBudgetTest {
  private static final int FIRST = 8;
  private static final int BOUND = 1024;

  private final ReceiveBudget budget = new ReceiveBudget(BOUND, FIRST);

  @Test
  void backsEachPromiseOfAFewConnections() {
    for (int connections = 1; connections <= 32; connections++) {
      budget.join();
      assertThat(budget.promised()).isEqualTo((long) connections * FIRST);
      assertThat(budget.target()).isEqualTo(connections * FIRST);
    }
  }

  @Test
  void backsManyConnectionsInPart() {
    for (int i = 0; i < 400; i++) {
      budget.join();
    }
    assertThat(budget.target()).isEqualTo(256 + 100);
    for (int i = 0; i < 100_000; i++) {
      budget.join();
    }
    assertThat(budget.target()).isEqualTo(BOUND / 2);
  }

  @Test
  void backsWhatBusyConnectionsPromise() {
    for (int i = 0; i < 400; i++) {
      budget.join();
    }
    for (int i = 0; i < 50; i++) {
      budget.becameBusy();
    }
    assertThat(budget.target()).isEqualTo(50 * FIRST);
    budget.beginPeriod();
    assertThat(budget.target()).isEqualTo(50 * FIRST);
    budget.beginPeriod();
    assertThat(budget.target()).isEqualTo(256 + 100);
    for (int i = 0; i < 400; i++) {
      budget.becameBusy();
    }
    assertThat(budget.target()).isEqualTo(BOUND / 2);
  }

  @Test
  void grantsAllThatIsWantedWhileThereIsEnough() {
    budget.join();

    assertThat(budget.grant(500, 0)).isEqualTo(500);
    budget.take(500, 0);

    assertThat(budget.target()).isEqualTo(500 + FIRST);
    assertThat(budget.hasMoreThanItsPart(500)).isFalse();
  }

  @Test
  void hasConnectionsGiveUpWhatIsMoreThanTheirPart() {
    budget.join();
    budget.join();
    budget.take(BOUND / 2, 0);

    assertThat(budget.grant(8, 0)).isZero();
    int held = BOUND / 2;
    while (budget.hasMoreThanItsPart(held)) {
      budget.giveBack(1, held--);
    }

    // Half of the extra receives; the other half is kept for one more connection.
    assertThat(held).isEqualTo(BOUND / 4);
    assertThat(budget.grant(8, 0)).isEqualTo(8);
  }

  @Test
  void neverPromisesMoreThanIsPostedAndEachConnectionsFirst() {
    Random random = new Random(1);
    int[] held = new int[200];
    boolean[] joined = new boolean[held.length];
    int connections = 0;
    int extra = 0;
    for (int step = 0; step < 200_000; step++) {
      int at = random.nextInt(held.length);
      if (!joined[at]) {
        joined[at] = true;
        connections++;
        budget.join();
      } else if (random.nextInt(20) == 0) {
        budget.giveBack(held[at], held[at]);
        extra -= held[at];
        held[at] = 0;
        joined[at] = false;
        connections--;
        budget.leave();
      } else if (random.nextInt(100) == 0) {
        budget.beginPeriod();
      } else if (random.nextInt(4) == 0) {
        budget.becameBusy();
      } else if (random.nextBoolean()) {
        int granted = budget.grant(1 + random.nextInt(56), held[at]);
        budget.take(granted, held[at]);
        held[at] += granted;
        extra += granted;
      } else if (held[at] > 0) {
        int count = budget.hasMoreThanItsPart(held[at]) ? 1 : 1 + random.nextInt(held[at]);
        budget.giveBack(count, held[at]);
        held[at] -= count;
        extra -= count;
      }
      assertThat(budget.promised()).isEqualTo((long) connections * FIRST + extra);
      assertThat(budget.target()).isLessThanOrEqualTo(BOUND);
      long unbacked = budget.promised() - budget.target();
      assertThat(unbacked).isBetween(0L, Math.max(0, (long) connections * FIRST - 256));
    }
  }
}
