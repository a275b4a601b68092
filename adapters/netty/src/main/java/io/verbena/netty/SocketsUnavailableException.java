// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.RdmaException;
import java.util.Locale;

/**
 * Thrown if the sockets that a program has chosen for its loops are not available: their library is
 * missing or does not load, or the kernel refuses. The cause is that of Netty's {@code
 * unavailabilityCause()}.
 */
public final class SocketsUnavailableException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The kind that is not available. */
  private final SocketKind kind;

  SocketsUnavailableException(SocketKind kind, Throwable cause) {
    super(
        "build",
        null,
        null,
        kind
            + " sockets are not available: "
            + cause
            + " (expected: io.netty:netty-transport-native-"
            + kind.name().toLowerCase(Locale.ROOT)
            + ", with the classifier "
            + classifier()
            + ", on the class path of a program on Linux, and a kernel that allows them)",
        cause);
    this.kind = kind;
  }

  /** Returns the classifier of the artifact for this machine. */
  private static String classifier() {
    return System.getProperty("os.arch", "").equals("aarch64") ? "linux-aarch_64" : "linux-x86_64";
  }

  /** Returns the kind that is not available. */
  public SocketKind kind() {
    return kind;
  }
}
