// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.util.Locale;

/** What a guest runs on. */
public enum GuestMachine {
  /** User-mode Linux where it can be built, or else QEMU; or as {@code VERBENA_GUEST_ON} says. */
  ANY,
  /** QEMU, with Debian's own kernel on two CPUs and 47 bits of address space. */
  QEMU;

  /** As {@code bin/soft-roce} calls it. */
  String option() {
    return name().toLowerCase(Locale.ROOT);
  }
}
