// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/** Loads rdma-core's libraries, once. */
final class Linkage {
  private static @Nullable RdmaCore loaded;

  private Linkage() {}

  /**
   * Returns the native calls. The first call loads the libraries.
   *
   * @throws VerbsException NO_DEVICE if a library is missing; NOT_SUPPORTED if rdma-core is too
   *     old; NOT_PERMITTED if this JVM permits no native code
   */
  static synchronized RdmaCore load() {
    RdmaCore core = loaded;
    if (core == null) {
      core = open();
      loaded = core;
    }
    return core;
  }

  private static RdmaCore open() {
    try {
      return new ForeignCore(new Libraries());
    } catch (IllegalCallerException e) {
      // Thrown on JDK 24 and later by --illegal-native-access=deny; on earlier ones if
      // --enable-native-access names only other modules.
      throw new VerbsException(
          VerbsError.NOT_PERMITTED,
          "verbs:// needs native code: "
              + e.getMessage()
              + "; start the JVM with --enable-native-access=ALL-UNNAMED, or on the module path with"
              + " --enable-native-access=io.verbena.foreign",
          e);
    }
  }
}
