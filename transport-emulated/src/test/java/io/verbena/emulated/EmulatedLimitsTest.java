// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.LimitsTck;
import java.net.URI;

/** The TCK's limits on a device that has little of everything. */
class EmulatedLimitsTest extends LimitsTck {
  /** So little of everything that it can all be used up, and as much as the TCK needs. */
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
