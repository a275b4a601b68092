// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import io.verbena.it.guest.GuestDevices;
import io.verbena.it.guest.InSoftRoceGuest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Tests rdma-core's {@code rping} on the kernel's Soft-iWARP. */
@Tag("once")
@InSoftRoceGuest(nodes = 2, devices = GuestDevices.SIW)
class SiwRpingTest {

  /** Against the emulated HCA on TCP sockets. */
  @Nested
  class Emulated extends RpingTests {
    @Override
    Hca hca() {
      return new NodeHca("iwarp");
    }
  }

  /** Against the same device through DiSNI. */
  @Nested
  class Disni extends RpingTests {
    @Override
    Hca hca() {
      return new NodeHca("disni");
    }
  }
}
