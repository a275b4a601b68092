// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** Soft-RoCE, whose deviations from the specification are not in its profile. */
final class SoftRoceTest extends FakeDeviceTck {
  SoftRoceTest() {
    super("10.0.9.1", /* bothTypes= */ false);
  }
}
