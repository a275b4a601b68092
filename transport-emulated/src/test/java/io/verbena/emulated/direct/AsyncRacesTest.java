// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.SeedOnFailure;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs the races with requests that an engine thread executes at any later time. */
@ExtendWith(SeedOnFailure.class)
class AsyncRacesTest extends Races {
  AsyncRacesTest() {
    super(new DeferredFabric(SeedOnFailure.SEED));
  }

  @Override
  int rounds(int full) {
    return full / 10;
  }

  @Override
  int mostTorn() {
    return 1;
  }
}
