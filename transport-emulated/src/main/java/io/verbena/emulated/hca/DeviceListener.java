// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/** Is called when a device fails or is closed. */
public interface DeviceListener {

  /**
   * The device has failed for good. Called at most once, by the thread that broke the device, under
   * no lock of a connection or a queue pair.
   */
  default void deviceFailed() {}

  /** The device is being closed. Called at most once, by the thread that closes the device. */
  default void deviceClosed(EmulatedDevice device) {}
}
