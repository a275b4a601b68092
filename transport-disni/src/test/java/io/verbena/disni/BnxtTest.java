// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** Broadcom's {@code bnxt_re}. */
final class BnxtTest extends FakeDeviceTck {
  BnxtTest() {
    super("10.0.5.1", /* bothTypes= */ true);
  }
}
