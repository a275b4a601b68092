// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.ConnectionManager;

/** Creates the connection managers of a device; chosen when the device is opened. Thread-safe. */
@FunctionalInterface
public interface ConnectionManagerFactory {

  /**
   * Creates a connection manager for an open device.
   *
   * <p>The manager must call {@link EmulatedDevice#connectionManagerClosed} when it is closed.
   */
  ConnectionManager create(EmulatedDevice device);
}
