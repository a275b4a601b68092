// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/** Listens for the failure and the closing of a device. */
public interface DeviceListener {

  /**
   * Called at most once, when the device has failed permanently, by the thread that broke the
   * device. That thread holds no lock of a connection or a queue pair.
   */
  default void deviceFailed() {}

  /** Called at most once, while the device is being closed, by the thread that closes it. */
  default void deviceClosed(EmulatedDevice device) {}
}
