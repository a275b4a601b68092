package io.verbena;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * Something that went wrong between this program, its HCA and a peer. Subclasses tell what a
 * program can act on; each names the operation, the peer where there is one, and the completion
 * status where the HCA gave one.
 */
public abstract class RdmaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What was tried. */
  private final String operation;

  /** Who is at the other end. */
  private final @Nullable String peer;

  /** How the work request ended. */
  private final @Nullable CompletionStatus status;

  /** As {@link #RdmaException(String, String, CompletionStatus, String, Throwable)}. */
  protected RdmaException(String operation, @Nullable String peer, String reason) {
    this(operation, peer, null, reason, null);
  }

  /**
   * @param operation what was tried, for example {@code read}
   * @param peer who is at the other end, or null
   * @param status how the work request ended, or null
   * @param reason what is wrong, with value and limit, and what to do about it
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

  /** What was tried, for example {@code read}. */
  public String operation() {
    return operation;
  }

  /** Who is at the other end, or null. */
  public @Nullable String peer() {
    return peer;
  }

  /** How the work request ended, or null if it was not the HCA that refused. */
  public @Nullable CompletionStatus status() {
    return status;
  }
}
