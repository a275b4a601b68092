// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.LimitsTck;
import java.net.URI;

/** Runs the limits part of the TCK on a device with low limits. */
class EmulatedLimitsTest extends LimitsTck {
  /** Limits low enough for a test to exhaust, and high enough for the TCK to run. */
  static final String LIMITS =
      "max-queue-pairs=9&max-work-requests=256&max-scatter-gather=5&max-inline-data=100"
          + "&max-completion-queues=9&max-completions=2048&max-memory-regions=9"
          + "&max-memory-region-size=65536&max-protection-domains=9&max-memory-windows=9"
          + "&max-address-handles=9&max-shared-receive-queues=9&max-shared-receive-requests=100"
          + "&max-message-size=20000";

  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name + "?" + LIMITS);
  }
}
