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
   * @param state the contents of {@link #file}, for example {@code 2: INIT}; null without the file
   */
  public static String text(boolean active, @Nullable String state) {
    if (active) {
      return "PORT_ACTIVE (4)";
    }
    int colon = state == null ? -1 : state.indexOf(": ");
    return state == null || colon < 0
        ? "not PORT_ACTIVE"
        : "PORT_" + state.substring(colon + 2) + " (" + state.substring(0, colon) + ")";
  }
}
