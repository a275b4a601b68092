// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import io.verbena.it.guest.InSoftRoceGuest;
import org.junit.jupiter.api.Tag;

/** Tests the kernel's devices through DiSNI against rdma-core's {@code rping}. */
@Tag("once")
@Tag("essential")
@InSoftRoceGuest(nodes = 2)
class RpingTest extends RpingTests {
  @Override
  Hca hca() {
    return new NodeHca("disni");
  }
}
