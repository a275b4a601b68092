package io.verbena;

import org.jspecify.annotations.Nullable;

/** A peer that broke the protocol after the handshake: the connection is closed. */
public final class ProtocolViolationException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation what was tried
   * @param peer who is at the other end, or null
   * @param reason what is wrong
   */
  public ProtocolViolationException(String operation, @Nullable String peer, String reason) {
    this(operation, peer, reason, null);
  }

  /**
   * @param operation what was tried
   * @param peer who is at the other end, or null
   * @param reason what is wrong
   * @param cause or null
   */
  public ProtocolViolationException(
      String operation, @Nullable String peer, String reason, @Nullable Throwable cause) {
    super(operation, peer, null, reason, cause);
  }
}
