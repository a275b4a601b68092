// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import io.verbena.emulated.hca.ConnectionManagerFactory;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.verbs.ConnectionManager;

/**
 * Creates the connection managers of iWARP devices.
 *
 * @param fabric the HCA
 */
public record IwarpConnectionManagers(IwarpFabric fabric) implements ConnectionManagerFactory {

  @Override
  public ConnectionManager create(EmulatedDevice device) {
    return new IwarpConnectionManager(device, fabric);
  }
}
