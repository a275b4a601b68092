// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import org.jspecify.annotations.Nullable;

/** Checks how much memory this user may register. */
final class MemoryCheck {
  private static final String NAME = "memlock";

  /** The default of {@code RdmaOptions.maxRegisteredBytes}. */
  private static final long WANTED = 1L << 31;

  /** Of capabilities(7): no limit counts. */
  private static final int CAP_IPC_LOCK = 14;

  private MemoryCheck() {}

  static Finding of(ExaminedDevice patient) {
    if (!patient.isKernels()) {
      return Finding.skipped(NAME, "an emulated HCA locks no memory");
    }
    String limit = field(patient, "proc/self/limits", "Max locked memory");
    if (limit == null) {
      return Finding.skipped(NAME, "the limit is not to be seen");
    }
    if (limit.equals("unlimited")) {
      return Finding.ok(NAME, limit);
    }
    long bytes = Long.parseUnsignedLong(limit);
    String value = bytes + " bytes";
    String capabilities = field(patient, "proc/self/status", "CapEff:");
    if (capabilities != null
        && (Long.parseUnsignedLong(capabilities, 16) >> CAP_IPC_LOCK & 1) != 0) {
      return Finding.ok(NAME, value + ", which this user may exceed (CAP_IPC_LOCK)");
    }
    return bytes >= WANTED
        ? Finding.ok(NAME, value)
        : Finding.wrong(
            NAME,
            value + ", less than the " + WANTED + " that a transport registers at the most",
            "raise it: ulimit -l unlimited; LimitMEMLOCK=infinity of a systemd unit; --ulimit"
                + " memlock=-1 of a container; memlock in /etc/security/limits.conf",
            "or set RdmaOptions.maxRegisteredBytes below it");
  }

  private static @Nullable String field(ExaminedDevice patient, String file, String name) {
    String text = patient.files().read(file);
    return text == null
        ? null
        : text.lines()
            .filter(line -> line.startsWith(name))
            .map(line -> line.substring(name.length()).strip().split("\\s+", 2)[0])
            .findFirst()
            .orElse(null);
  }
}
