// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.tck.Deviation;
import io.verbena.tck.IwarpDeviation;
import io.verbena.tck.KnownDeviations;
import org.jspecify.annotations.Nullable;

/** Soft-iWARP as its users see it. */
final class SoftIwarpVerbsTest extends FakeIwarpTck {
  private static final KnownDeviations KNOWN =
      ofAll()
          .always(
              IwarpDeviation.DONE_WITHOUT_A_SHARED_RECEIVE, IwarpDeviation.ONE_BUFFER_FOR_A_READ)
          .sometimes(IwarpDeviation.NO_WAIT_AND_UNHEARD, IwarpDeviation.ENDS_UNHEARD);

  SoftIwarpVerbsTest() {
    super("10.0.7.1", KNOWN);
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    // The device cannot resize completion queues, so this deviation does not occur.
    return test.equals("ResizedCompletionQueues.namesWhatItHoldsWhenItIsToShrinkBelow")
        ? null
        : super.deviation(test);
  }
}
