// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.tck.Deviation;
import io.verbena.tck.IwarpDeviation;
import io.verbena.tck.KnownDeviations;
import org.jspecify.annotations.Nullable;

/** Runs the verbs TCK on an iWARP device of the fake rdma-core. */
abstract class FakeIwarpTck extends FakeDeviceTck {
  private final KnownDeviations known;

  /**
   * @param host an address of the device, as in its profile
   * @param known the deviations of the device
   */
  FakeIwarpTck(String host, KnownDeviations known) {
    super(host, /* bothTypes= */ false);
    this.known = known;
  }

  /** Returns the deviations of all iWARP devices; a caller may add those of its device. */
  static KnownDeviations ofAll() {
    return KnownDeviations.iwarp()
        .always(
            IwarpDeviation.DONE_WHEN_SENT,
            IwarpDeviation.DONE_BEFORE_THE_ERROR,
            IwarpDeviation.FIRST_DONE_BEFORE_THE_ERROR,
            IwarpDeviation.ENDED_BY_EITHER_END,
            IwarpDeviation.REQUEST_WITHOUT_ANSWER,
            IwarpDeviation.ASKED_ONCE)
        .sometimes(IwarpDeviation.DONE_OR_FLUSHED, IwarpDeviation.ESTABLISHED_AT_ONCE)
        .add(
            IwarpDeviation.ENDED_BY_EITHER_END.always(),
            "Posting.refusesAMessageBeyondTheDevicesMaximum");
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    Deviation deviation = known.of(test);
    return deviation == null ? super.deviation(test) : deviation;
  }
}
