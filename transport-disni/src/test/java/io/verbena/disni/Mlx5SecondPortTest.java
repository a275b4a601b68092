// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** The second port of the same ConnectX. */
final class Mlx5SecondPortTest extends FakeDeviceTck {
  Mlx5SecondPortTest() {
    super("10.0.13.1", /* bothTypes= */ true);
  }
}
