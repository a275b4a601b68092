// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.tck.Deviation;
import io.verbena.tck.IwarpDeviation;
import org.jspecify.annotations.Nullable;

/** An Intel E810 in its iWARP mode, which writes what a READ brings with the rights of peers. */
final class IrdmaIwarpTest extends FakeIwarpTck {
  IrdmaIwarpTest() {
    super("10.0.16.1");
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return test.equals("CompletionQueues.growsAndKeepsWhatItHolds")
        ? IwarpDeviation.CONNECTED_BY_THE_MANAGER.deviation()
        : super.deviation(test);
  }
}
