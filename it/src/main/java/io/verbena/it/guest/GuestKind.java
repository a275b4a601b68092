// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.util.Comparator;

/**
 * A guest that classes may share.
 *
 * @param devices of its nodes
 * @param nodes how many it has: 1 or 2
 * @param machine what it runs on
 */
record GuestKind(GuestDevices devices, int nodes, GuestMachine machine)
    implements Comparable<GuestKind> {
  private static final Comparator<GuestKind> ORDER =
      Comparator.comparing(GuestKind::devices)
          .thenComparing(GuestKind::nodes)
          .thenComparing(GuestKind::machine);

  @Override
  public int compareTo(GuestKind other) {
    return ORDER.compare(this, other);
  }

  /** The name of the folder for what it writes. */
  String folder() {
    return (devices == GuestDevices.RXE ? "" : devices.option() + "-")
        + "nodes-"
        + nodes
        + (machine == GuestMachine.ANY ? "" : "-" + machine.option());
  }
}
