// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import io.verbena.it.guest.InSoftRoceGuest;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/**
 * Tests the kernel's devices through the foreign-function interface against rdma-core's {@code
 * rping}.
 */
@EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "verbs:// needs JDK 22 or later")
@InSoftRoceGuest(nodes = 2)
class ForeignRpingTest extends RpingTests {
  @Override
  Hca hca() {
    return new NodeHca("verbs");
  }
}
