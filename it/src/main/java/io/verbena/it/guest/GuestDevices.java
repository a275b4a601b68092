// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.util.Locale;

/** The RDMA devices that the nodes of a guest have. */
public enum GuestDevices {
  /** Soft-RoCE, as Debian's kernel has it. */
  RXE,
  /**
   * Soft-iWARP, built from that kernel's source; a machine that cannot build it skips its tests.
   */
  SIW;

  /** As {@code bin/soft-roce} calls them. */
  String option() {
    return name().toLowerCase(Locale.ROOT);
  }
}
