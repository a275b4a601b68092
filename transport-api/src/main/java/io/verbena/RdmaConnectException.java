// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import org.jspecify.annotations.Nullable;

/**
 * A connect or a bind failed, for example because no server listens, the server rejected the
 * connection, or there is no route.
 */
public final class RdmaConnectException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The server's reason for refusing; null if the server gave none. */
  private final @Nullable RejectReason rejection;

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param reason a description of the failure
   */
  public RdmaConnectException(String operation, @Nullable String peer, String reason) {
    this(operation, peer, reason, null);
  }

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param reason a description of the failure
   * @param cause or null
   */
  public RdmaConnectException(
      String operation, @Nullable String peer, String reason, @Nullable Throwable cause) {
    super(operation, peer, null, reason, cause);
    rejection = null;
  }

  /**
   * For a connection that a server refused.
   *
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param rejection the server's reason
   */
  public RdmaConnectException(String operation, @Nullable String peer, RejectReason rejection) {
    super(operation, peer, null, "the server rejected it: " + rejection.text(), null);
    this.rejection = rejection;
  }

  /**
   * Returns the reason if a limit or an {@link AcceptHook} of the server refused the connection,
   * else null.
   */
  public @Nullable RejectReason rejection() {
    return rejection;
  }
}
