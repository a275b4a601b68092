// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** Soft-RoCE; its profile does not include its deviations from the specification. */
final class SoftRoceTest extends FakeDeviceTck {
  SoftRoceTest() {
    super("10.0.9.1", /* bothTypes= */ false);
  }
}
