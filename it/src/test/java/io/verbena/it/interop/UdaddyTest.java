package io.verbena.it.interop;

import io.verbena.it.guest.InSoftRoceGuest;

/** The kernel's devices under DiSNI against rdma-core's {@code udaddy}. */
@InSoftRoceGuest(nodes = 2)
class UdaddyTest extends UdaddyTests {
  @Override
  Hca hca() {
    return new NodeHca();
  }
}
