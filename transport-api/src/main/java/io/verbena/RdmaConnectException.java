package io.verbena;

import org.jspecify.annotations.Nullable;

/**
 * A connect or a bind that failed: nobody listens, the peer rejected it, or there is no way to it.
 */
public final class RdmaConnectException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation what was tried
   * @param peer who is at the other end, or null
   * @param reason what is wrong
   */
  public RdmaConnectException(String operation, @Nullable String peer, String reason) {
    this(operation, peer, reason, null);
  }

  /**
   * @param operation what was tried
   * @param peer who is at the other end, or null
   * @param reason what is wrong
   * @param cause or null
   */
  public RdmaConnectException(
      String operation, @Nullable String peer, String reason, @Nullable Throwable cause) {
    super(operation, peer, null, reason, cause);
  }
}
