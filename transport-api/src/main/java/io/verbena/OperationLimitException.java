package io.verbena;

import org.jspecify.annotations.Nullable;

/** An operation that finds {@link RdmaOptions#maxOperations} others waiting: try it again later. */
public final class OperationLimitException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation what was tried
   * @param peer who is at the other end, or null
   * @param reason what is wrong
   */
  public OperationLimitException(String operation, @Nullable String peer, String reason) {
    this(operation, peer, reason, null);
  }

  /**
   * @param operation what was tried
   * @param peer who is at the other end, or null
   * @param reason what is wrong
   * @param cause or null
   */
  public OperationLimitException(
      String operation, @Nullable String peer, String reason, @Nullable Throwable cause) {
    super(operation, peer, null, reason, cause);
  }
}
