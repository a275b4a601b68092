// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import org.jspecify.annotations.Nullable;

/** The peer does not speak this protocol or this version of it. */
public final class HandshakeException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param reason a description of the failure
   */
  public HandshakeException(String operation, @Nullable String peer, String reason) {
    this(operation, peer, reason, null);
  }

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param reason a description of the failure
   * @param cause or null
   */
  public HandshakeException(
      String operation, @Nullable String peer, String reason, @Nullable Throwable cause) {
    super(operation, peer, null, reason, cause);
  }
}
