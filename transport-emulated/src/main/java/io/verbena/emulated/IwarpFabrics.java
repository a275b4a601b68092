// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.cm.iwarp.IwarpConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The HCA that speaks iWARP in this JVM, while a device of it is open. */
final class IwarpFabrics {
  /** Connections whose request has not come or waits for a program, at the most. */
  private static final int MOST_HALF_OPEN = 1024;

  /** Held while a device is opened or closed. */
  private static final Object LOCK = new Object();

  private static @Nullable IwarpFabric open;

  private IwarpFabrics() {}

  /**
   * Opens a device.
   *
   * @throws VerbsException {@code IO} if there can be no selector
   */
  static EmulatedDevice open(IwarpAddress address) {
    synchronized (LOCK) {
      IwarpFabric fabric = open;
      if (fabric == null) {
        fabric = start();
        open = fabric;
      }
      return EmulatedDevice.open(
          fabric,
          DeviceLimits.ofStreams(IwarpFabric.NAME, address.limits()),
          new IwarpConnectionManagers(fabric));
    }
  }

  private static IwarpFabric start() {
    try {
      return new IwarpFabric(LOCK, () -> open = null, MOST_HALF_OPEN);
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "sockets of TCP: " + e, e);
    }
  }
}
