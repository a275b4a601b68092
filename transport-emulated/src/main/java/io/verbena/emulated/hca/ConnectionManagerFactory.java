// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.ConnectionManager;

/** Makes the connection managers of devices; whoever opens a device chooses it. Thread-safe. */
@FunctionalInterface
public interface ConnectionManagerFactory {

  /**
   * Makes a connection manager of an open device.
   *
   * <p>The manager calls {@link EmulatedDevice#connectionManagerClosed} when it is closed.
   */
  ConnectionManager create(EmulatedDevice device);
}
