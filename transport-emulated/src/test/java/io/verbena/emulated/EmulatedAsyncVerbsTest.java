// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.VerbsTck;
import java.net.URI;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The verbs TCK on the emulated HCA in asynchronous mode. A lock of their own makes these tests run
 * one after another, because concurrent tests would change the order that follows from the seed.
 */
@ExtendWith(SeedOnFailure.class)
@ResourceLock("order by seed")
class EmulatedAsyncVerbsTest extends VerbsTck {
  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name + "?mode=async&seed=" + SeedOnFailure.SEED);
  }

  /** Runs fewer iterations, because worker threads execute the requests and sleep in between. */
  @Override
  protected int iterations(int full) {
    return Math.max(1, full / 50);
  }
}
