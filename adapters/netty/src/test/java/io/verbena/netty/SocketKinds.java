// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Checks for kinds of sockets that this machine may not have. */
public final class SocketKinds {
  private SocketKinds() {}

  /** Skips a test where a kind is not available, and prints the reason. */
  public static void assumeAvailable(SocketKind kind) {
    Throwable cause = kind.unavailabilityCause();
    if (cause != null) {
      System.err.println("*** SKIPPED, NOT TESTED HERE: " + kind + " sockets. " + cause);
    }
    assumeTrue(cause == null, kind + " sockets are not available");
  }
}
