// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** A ConnectX on InfiniBand, where LIDs address ports. */
final class Mlx5InfiniBandTest extends FakeDeviceTck {
  Mlx5InfiniBandTest() {
    super("10.0.4.1", /* bothTypes= */ false);
  }
}
