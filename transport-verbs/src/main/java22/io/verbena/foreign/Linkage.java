// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.disni.core.RdmaCore;
import org.jspecify.annotations.Nullable;

/** Loads rdma-core's libraries, once. */
final class Linkage {
  private static @Nullable RdmaCore loaded;

  private Linkage() {}

  /**
   * Loads them, the first time.
   *
   * @throws io.verbena.verbs.VerbsException NO_DEVICE if one is not here
   */
  static synchronized RdmaCore load() {
    RdmaCore core = loaded;
    if (core == null) {
      core = new ForeignCore(new Libraries());
      loaded = core;
    }
    return core;
  }
}
