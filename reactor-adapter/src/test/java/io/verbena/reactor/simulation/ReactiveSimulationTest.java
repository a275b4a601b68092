package io.verbena.reactor.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The reactive layer's whole protocol without threads, a program of random steps per seed. */
class ReactiveSimulationTest {
  private static final int SEEDS = Integer.getInteger("verbena.test.seeds", 100);
  private static final long FIRST = Long.getLong("verbena.test.seed", 1);

  @Test
  void holdsInEveryRun() {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      Run.of(seed);
    }
  }

  @Test
  void aRunIsAFunctionOfItsSeed() {
    for (long seed = 1; seed <= 10; seed++) {
      assertThat(Run.of(seed)).isEqualTo(Run.of(seed));
    }
  }
}
