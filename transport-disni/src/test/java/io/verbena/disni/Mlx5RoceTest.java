// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** A ConnectX in RoCE mode. */
final class Mlx5RoceTest extends FakeDeviceTck {
  Mlx5RoceTest() {
    super("10.0.1.1", /* bothTypes= */ true);
  }
}
