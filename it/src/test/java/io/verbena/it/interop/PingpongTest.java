// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import io.verbena.it.guest.InSoftRoceGuest;
import org.junit.jupiter.api.Tag;

/** Tests the kernel's devices through DiSNI against {@code ibv_rc_pingpong} and its variants. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class PingpongTest extends PingpongTests {
  @Override
  Hca hca() {
    return new NodeHca("disni");
  }
}
