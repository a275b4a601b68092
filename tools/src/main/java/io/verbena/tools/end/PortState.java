// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import org.jspecify.annotations.Nullable;

/** The state of a port, as {@code ibv_devinfo} prints it. */
public final class PortState {
  private PortState() {}

  /** The file with the state of a kernel's port. */
  public static String file(String device, int port) {
    return "sys/class/infiniband/" + device + "/ports/" + port + "/state";
  }

  /**
   * Returns the text of a state.
   *
   * @param told the contents of {@link #file}, for example {@code 2: INIT}; null without the file
   */
  public static String text(boolean active, @Nullable String told) {
    if (active) {
      return "PORT_ACTIVE (4)";
    }
    int colon = told == null ? -1 : told.indexOf(": ");
    return told == null || colon < 0
        ? "not PORT_ACTIVE"
        : "PORT_" + told.substring(colon + 2) + " (" + told.substring(0, colon) + ")";
  }
}
