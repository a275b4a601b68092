// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** The first port of a ConnectX with two ports and many GIDs. */
final class Mlx5DualPortTest extends FakeDeviceTck {
  Mlx5DualPortTest() {
    super("10.0.3.1", /* bothTypes= */ true);
  }
}
