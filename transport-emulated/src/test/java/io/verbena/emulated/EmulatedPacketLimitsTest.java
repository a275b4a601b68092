// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.LimitsTck;
import java.net.URI;

/** Runs the limits part of the TCK in packets over a simulated wire. */
class EmulatedPacketLimitsTest extends LimitsTck {
  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name + "?wire=simulated&" + EmulatedLimitsTest.LIMITS);
  }
}
