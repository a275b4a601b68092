// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** Intel's {@code irdma} in RoCE mode. */
final class IrdmaRoceTest extends FakeDeviceTck {
  IrdmaRoceTest() {
    super("10.0.6.1", /* bothTypes= */ false);
  }
}
