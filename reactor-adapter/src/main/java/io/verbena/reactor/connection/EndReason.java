// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.ConnectionClosedException;
import io.verbena.RdmaException;
import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The reason for the end of a connection: it was disposed, something went wrong, or neither; and
 * the errors that operations get from it. Only on the loop.
 */
final class EndReason {
  private final String peer;
  private boolean disposed;
  private @Nullable RdmaException cause;

  /**
   * @param peer human-readable peer address, for errors
   */
  EndReason(String peer) {
    this.peer = peer;
  }

  /** Human-readable peer address, for errors. */
  String peer() {
    return peer;
  }

  /** This end gave the connection up. */
  void dispose() {
    disposed = true;
  }

  boolean isDisposed() {
    return disposed;
  }

  /** Sets what went wrong; null if nothing did. */
  void cause(@Nullable RdmaException why) {
    cause = why;
  }

  @Nullable RdmaException cause() {
    return cause;
  }

  /** The error of an operation that the connection does not take, or no longer. */
  RdmaException closed(String operation) {
    return closed(operation, null);
  }

  /** The error of an operation that the end of the connection has ended. */
  RdmaException closed(String operation, @Nullable CompletionStatus status) {
    RdmaException why = cause;
    String reason =
        disposed
            ? "the connection was disposed"
            : why == null ? "the connection is closed" : "the connection was lost";
    return new ConnectionClosedException(operation, peer, status, reason, why);
  }

  /** The error of a send to a peer that closes and drops what comes. */
  RdmaException stopped() {
    return new ConnectionClosedException(
        "send",
        peer,
        null,
        "the peer closes and takes no more messages; RdmaConnection.onPeerClosing signals it",
        null);
  }

  /** The error of a work request that completed with this status. */
  RdmaException failed(String operation, CompletionStatus status) {
    return CompletionErrors.of(operation, peer, status, cause);
  }

  /**
   * Returns the error for a flush that this end did not ask for, and for a disconnect that was not
   * announced.
   */
  ConnectionClosedException lost() {
    return new ConnectionClosedException(
        "connection",
        peer,
        CompletionStatus.WR_FLUSH_ERR,
        "the peer disconnected without closing",
        null);
  }

  /** Returns the error for receivers that have got all that came; null if they complete. */
  @Nullable RdmaException forReceivers() {
    RdmaException why = cause;
    if (!disposed && why instanceof ConnectionClosedException) {
      return why;
    }
    return disposed || why != null ? closed("receive") : null;
  }
}
