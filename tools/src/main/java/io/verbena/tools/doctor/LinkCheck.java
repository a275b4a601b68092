// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import io.verbena.tools.end.PortState;
import org.jspecify.annotations.Nullable;

/** Checks that the port's link is up. */
final class LinkCheck {
  private static final String NAME = "link";

  private LinkCheck() {}

  static Finding of(ExaminedDevice patient) {
    if (!patient.isKernels()) {
      return patient.port().active()
          ? Finding.ok(NAME, "PORT_ACTIVE (4)")
          : Finding.wrong(NAME, "PORT_DOWN (1)", "look at the options of the device's URI");
    }
    String state = patient.ofPort("state");
    String physical = patient.ofPort("phys_state");
    String value =
        PortState.text(patient.port().active(), state)
            + more(patient.port().active() ? null : state)
            + more(physical)
            + more(patient.ofPort("link_layer"))
            + more(patient.ofPort("rate"));
    return patient.port().active()
        ? Finding.ok(NAME, value)
        : Finding.wrong(NAME, value, advice(patient, state, physical));
  }

  private static String more(@Nullable String text) {
    return text == null ? "" : ", " + text;
  }

  private static String advice(
      ExaminedDevice patient, @Nullable String state, @Nullable String physical) {
    if (patient.isInfiniBand()
        && state != null
        && (state.contains("INIT") || state.contains("ARMED"))) {
      return "the cable is good and no subnet manager has set the port up: start opensm, or the"
          + " switch's own";
    }
    if (physical != null && physical.contains("Disabled")) {
      return "ip link set " + patient.netdevName() + " up";
    }
    return "plug the cable in, enable the port of the switch, and run: ip link set "
        + patient.netdevName()
        + " up";
  }
}
