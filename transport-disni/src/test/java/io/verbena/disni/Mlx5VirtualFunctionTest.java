// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** A virtual function of a ConnectX without atomics. */
final class Mlx5VirtualFunctionTest extends FakeDeviceTck {
  Mlx5VirtualFunctionTest() {
    super("10.0.2.1", /* bothTypes= */ true);
  }
}
