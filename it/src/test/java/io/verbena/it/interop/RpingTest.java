package io.verbena.it.interop;

import io.verbena.it.guest.InSoftRoceGuest;

/** The kernel's devices under DiSNI against rdma-core's {@code rping}. */
@InSoftRoceGuest(nodes = 2)
class RpingTest extends RpingTests {
  @Override
  Hca hca() {
    return new NodeHca();
  }
}
