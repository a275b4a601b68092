// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Runs random operations over bad wires, by seed. */
class RandomRunsTest {
  private static final int RUNS = 100;

  @Test
  void doesAllOnceAndInOrderAlsoWhereItAdaptsToLosses() {
    for (long seed = 1; seed <= RUNS; seed++) {
      try {
        new RandomRun(seed, true).run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("adaptive run with seed " + seed, e);
      }
    }
  }

  @Test
  void doesAllOnceAndInOrderWhateverTheWireDoes() {
    long first = Long.getLong("verbena.seed", 1);
    long runs = Long.getLong("verbena.seeds", RUNS);
    long copies = 0;
    for (long seed = first; seed < first + runs; seed++) {
      try {
        new RandomRun(seed).run();
        new RandomRun(seed).sharing().run();
        new RandomRun(seed, /* adaptive= */ true).sharing().run();
        RandomRun granting = new RandomRun(seed).granting();
        granting.run();
        copies += granting.copies();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("run again with -Dverbena.seed=" + seed + " -Dverbena.seeds=1", e);
      }
    }
    assertThat(copies).as("READs without a packet").isGreaterThan(runs < RUNS ? -1 : RUNS);
  }
}
