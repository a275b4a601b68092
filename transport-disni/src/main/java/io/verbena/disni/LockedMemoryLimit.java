// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Explains a failed registration by the limit of locked memory, which is the usual cause. */
final class LockedMemoryLimit {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final String NAME = "Max locked memory";

  private LockedMemoryLimit() {}

  /**
   * Returns the failure with the limit, the bytes needed and how to raise the limit; returns it
   * unchanged if the limit is unlimited.
   */
  static VerbsException explain(long need, VerbsException failure) {
    String limit = read();
    if ("unlimited".equals(limit)) {
      return failure;
    }
    return new VerbsException(
        failure.error(),
        "register "
            + need
            + " bytes: the limit of locked memory of this process is "
            + limit
            + " bytes, registered memory included; raise it (ulimit -l, LimitMEMLOCK= of a systemd"
            + " unit, --ulimit memlock= of a container, memlock in limits.conf) or register less",
        failure);
  }

  private static String read() {
    try {
      for (String line : Files.readAllLines(LIMITS)) {
        if (line.startsWith(NAME)) {
          return line.substring(NAME.length()).trim().split("\\s+", 2)[0];
        }
      }
      return "unknown";
    } catch (IOException e) {
      return "unknown (" + e.getMessage() + ")";
    }
  }
}
