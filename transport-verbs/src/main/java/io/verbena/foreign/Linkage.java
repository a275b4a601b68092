// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;

/**
 * Throws on {@link #load}: the fallback for a JVM or a jar without the class of this name for JDK
 * 22 and later.
 */
final class Linkage {
  private static final int FIRST_JDK = 22;

  private Linkage() {}

  static RdmaCore load() {
    int jdk = Runtime.version().feature();
    throw new VerbsException(
        VerbsError.NOT_SUPPORTED,
        jdk < FIRST_JDK
            ? "verbs:// needs JDK 22 or later (this is " + jdk + "); use disni:// here"
            : "verbs:// needs the jar verbena-transport-verbs as it is built with a JDK 22 or later;"
                + " without it use disni://");
  }
}
