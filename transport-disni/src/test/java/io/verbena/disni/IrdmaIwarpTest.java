// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.tck.IwarpDeviation;
import io.verbena.tck.KnownDeviations;

/** An Intel E810 in iWARP mode, which writes READ responses under the access rights of peers. */
final class IrdmaIwarpTest extends FakeIwarpTck {
  private static final KnownDeviations KNOWN =
      ofAll()
          .sometimes(IwarpDeviation.NO_WAIT_FOR_A_RECEIVE)
          .add(
              IwarpDeviation.CONNECTED_BY_THE_MANAGER.always(),
              "CompletionQueues.growsAndKeepsWhatItHolds");

  IrdmaIwarpTest() {
    super("10.0.16.1", KNOWN);
  }
}
