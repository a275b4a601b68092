// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests how long a loop without work polls before it sleeps, on a clock of the test. */
class IdleStrategyTest {
  private static final long MICROSECOND = 1000;
  private static final long LONGEST = 100 * MICROSECOND;

  /** Duration of a poll, and of a yield while no other thread wants the CPU. */
  private static final long POLL = 50;

  private long now;
  private long yieldTakes = POLL;
  private int yields;
  private final IdleStrategy strategy = strategy(PollMode.ADAPTIVE, LONGEST);

  private IdleStrategy strategy(PollMode mode, long spinTime) {
    return new IdleStrategy(
        mode,
        RdmaOptions.builder().spinTime(Duration.ofNanos(spinTime)).build(),
        () -> now,
        () -> {
          yields++;
          now += yieldTakes;
        });
  }

  /** Makes the next work arrive after this time; returns how long the loop has spun. */
  private long idleFor(long nanos) {
    long start = now;
    long spun = 0;
    boolean asleep = false;
    while (now - start < nanos) {
      if (asleep || !strategy.spins()) {
        asleep = true;
        now = start + nanos;
      } else {
        now += POLL;
        spun = now - start;
      }
    }
    strategy.worked();
    return spun;
  }

  private long afterMany(long nanos) {
    long spun = 0;
    for (int i = 0; i < 40; i++) {
      spun = idleFor(nanos);
    }
    return spun;
  }

  @Test
  void beginsInTheMiddle() {
    assertThat(idleFor(1000 * MICROSECOND)).isBetween(19 * MICROSECOND, 22 * MICROSECOND);
  }

  @Test
  void spinsLongerWhereWorkComesSoonAfterItFellAsleep() {
    assertThat(afterMany(90 * MICROSECOND)).isGreaterThanOrEqualTo(90 * MICROSECOND);
  }

  @Test
  void spinsNoLongerThanTheUserAllows() {
    afterMany(90 * MICROSECOND);

    assertThat(idleFor(1000 * MICROSECOND)).isBetween(99 * MICROSECOND, 102 * MICROSECOND);
  }

  @Test
  void stopsSpinningWhereWorkComesLate() {
    assertThat(afterMany(1000 * MICROSECOND)).isLessThan(2 * MICROSECOND);
  }

  @Test
  void seesThatSpinningPaysAgain() {
    afterMany(1000 * MICROSECOND);

    assertThat(afterMany(60 * MICROSECOND)).isGreaterThanOrEqualTo(60 * MICROSECOND);
  }

  @Test
  void triesNowAndThenWhetherSpinningPays() {
    afterMany(1000 * MICROSECOND);
    int longOnes = 0;
    for (int i = 0; i < 256; i++) {
      if (idleFor(1000 * MICROSECOND) > 90 * MICROSECOND) {
        longOnes++;
      }
    }

    assertThat(longOnes).isEqualTo(4);
  }

  @Test
  void sleepsAtOnceWhenSomebodyElseNeedsTheCpu() {
    yieldTakes = 1000 * MICROSECOND;

    assertThat(idleFor(5000 * MICROSECOND)).isLessThan(2 * MICROSECOND);
    assertThat(yields).isEqualTo(1);
  }

  @Test
  void keepsSpinningBesideAPeerThatYieldsAsWell() {
    yieldTakes = 3 * MICROSECOND;

    assertThat(afterMany(90 * MICROSECOND)).isGreaterThan(80 * MICROSECOND);
  }

  @Test
  void polls16TimesWhereNoSpinningIsWanted() {
    IdleStrategy none = strategy(PollMode.ADAPTIVE, 0);
    int polls = 0;
    while (none.spins()) {
      polls++;
    }

    assertThat(polls).isEqualTo(15);
    assertThat(yields).isZero();
  }

  @Test
  void neverSleepsWhenBusyAndNeverSpinsOnEvents() {
    IdleStrategy busy = strategy(PollMode.BUSY, LONGEST);
    for (int i = 0; i < 10_000; i++) {
      now += MICROSECOND;
      assertThat(busy.spins()).isTrue();
    }
    assertThat(busy.isIdle()).isTrue();
    assertThat(strategy(PollMode.EVENT, LONGEST).spins()).isFalse();
  }
}
