// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * A failure of an operation, at this program, its HCA or a peer. The subclasses are the cases that
 * a program can act on. Each names the operation, the peer if there is one, and the completion
 * status if the HCA gave one.
 */
public abstract class RdmaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The name of the operation. */
  private final String operation;

  /** The peer's human-readable address. */
  private final @Nullable String peer;

  /** The completion status. */
  private final @Nullable CompletionStatus status;

  /** As {@link #RdmaException(String, String, CompletionStatus, String, Throwable)}. */
  protected RdmaException(String operation, @Nullable String peer, String reason) {
    this(operation, peer, null, reason, null);
  }

  /**
   * @param operation the name of the operation, for example {@code read}
   * @param peer the peer's human-readable address, or null
   * @param status the completion status of the work request, or null
   * @param reason a description of the failure, with value, limit and remedy
   * @param cause or null
   */
  protected RdmaException(
      String operation,
      @Nullable String peer,
      @Nullable CompletionStatus status,
      String reason,
      @Nullable Throwable cause) {
    super(
        operation
            + (peer == null ? "" : " with " + peer)
            + ": "
            + reason
            + (status == null ? "" : " [" + status + "]"),
        cause);
    this.operation = operation;
    this.peer = peer;
    this.status = status;
  }

  /** Returns the name of the operation, for example {@code read}. */
  public String operation() {
    return operation;
  }

  /** Returns the peer's human-readable address, or null. */
  public @Nullable String peer() {
    return peer;
  }

  /** Returns the completion status, or null if the HCA gave none. */
  public @Nullable CompletionStatus status() {
    return status;
  }
}
