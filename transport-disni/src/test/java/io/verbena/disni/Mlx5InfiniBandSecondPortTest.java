// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** The second port of a ConnectX on InfiniBand, with its own LID. */
final class Mlx5InfiniBandSecondPortTest extends FakeDeviceTck {
  Mlx5InfiniBandSecondPortTest() {
    super("10.0.14.1", /* bothTypes= */ false);
  }
}
