package io.verbena.it.interop;

import io.verbena.it.guest.InSoftRoceGuest;

/** The kernel's devices under DiSNI against perftest. */
@InSoftRoceGuest(nodes = 2)
class PerftestTest extends PerftestTests {
  @Override
  Hca hca() {
    return new NodeHca();
  }
}
