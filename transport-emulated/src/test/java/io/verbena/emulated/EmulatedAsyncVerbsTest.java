// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.VerbsTck;
import java.net.URI;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * What every verbs provider must do, done by the emulated HCA when it takes its time. A lock of its
 * own has these tests run one after the other: what others do at the same time would change the
 * order that follows from the seed.
 */
@ExtendWith(SeedOnFailure.class)
@ResourceLock("order by seed")
class EmulatedAsyncVerbsTest extends VerbsTck {
  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name + "?mode=async&seed=" + SeedOnFailure.SEED);
  }

  /** Other threads do the work here, and nap. */
  @Override
  protected int iterations(int full) {
    return Math.max(1, full / 50);
  }
}
