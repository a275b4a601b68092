// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sends every message in every state, forged, replayed, reordered and damaged, by seed. */
@Tag("once")
class RandomCmRunsTest {
  private static final int RUNS = 3_000;

  @Test
  void boundsWhatStrangersCostAndEndsWhatBegins() {
    long first = Long.getLong("verbena.seed", 1);
    long runs = Long.getLong("verbena.seeds", RUNS);
    for (long seed = first; seed < first + runs; seed++) {
      try {
        new RandomCmRun(seed).run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("run again with -Dverbena.seed=" + seed + " -Dverbena.seeds=1", e);
      }
    }
  }
}
