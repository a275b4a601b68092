// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.RoceProvider;
import io.verbena.emulated.SeedOnFailure;
import io.verbena.emulated.hca.EmulatedDevice;
import java.net.URI;

/** How bytes are moved, and how many by one operation so that it is often met in the middle. */
enum Medium {
  DIRECT("emulated://closing", 1 << 19, 12),
  ASYNC("emulated://closing?mode=async&seed=" + SeedOnFailure.SEED, 1 << 16, 24),
  PACKETS("emulated://closing?wire=simulated", 1 << 15, 12),
  ROCE("roce://" + Loopbacks.address(41) + "?udp-port=0", 1 << 15, 12);

  /** Bytes of an operation, but for atomics. */
  final int length;

  /** Operations of a round. */
  final int operations;

  private final URI address;

  Medium(String address, int length, int operations) {
    this.address = URI.create(address);
    this.length = length;
    this.operations = operations;
  }

  EmulatedDevice open() {
    return (EmulatedDevice)
        (this == ROCE ? new RoceProvider().open(address) : new EmulatedProvider().open(address));
  }
}
