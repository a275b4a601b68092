// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.Deviation;
import io.verbena.tck.VerbsTck;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** The verbs TCK in packets over a simulated wire. */
class EmulatedPacketVerbsTest extends VerbsTck {
  /** Divides the iterations, because a receiver that is not ready costs 655 ms, as on any wire. */
  private static final int FEWER = 20;

  @Override
  protected int iterations(int full) {
    return Math.max(1, full / FEWER);
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return test.equals("UnreliableConnections.takesNothingFromAQueuePairThatItIsNotConnectedTo")
        ? Deviation.sometimes(
            "expected: WR_FLUSH_ERR",
            "a packet of UC names the queue pair that it goes to and none that it comes from (IBTA"
                + " vol. 1, base transport header): of two on one port the receiver knows no"
                + " difference, if it comes before the receiver stops")
        : null;
  }

  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name + "?wire=simulated");
  }
}
