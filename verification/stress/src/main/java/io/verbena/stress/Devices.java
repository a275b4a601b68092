// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.emulated.hca.EmulatedDevice;
import java.net.URI;

/** Emulated HCAs, with access to the queues and keys behind the verbs. */
final class Devices {
  private Devices() {}

  static EmulatedDevice open() {
    return (EmulatedDevice) new EmulatedProvider().open(URI.create("emulated://stress"));
  }
}
