// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.ConnectionClosedException;
import io.verbena.RdmaException;
import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The reason for the end of a connection: it was disposed of, something failed, or neither; and the
 * errors of operations that follow from it. Only on the loop.
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

  /** Returns the human-readable peer address, for errors. */
  String peer() {
    return peer;
  }

  /** Records that this end disposed of the connection. */
  void dispose() {
    disposed = true;
  }

  boolean isDisposed() {
    return disposed;
  }

  /** Sets the failure; null if there was none. */
  void cause(@Nullable RdmaException why) {
    cause = why;
  }

  @Nullable RdmaException cause() {
    return cause;
  }

  /** Returns the error of an operation that the connection does not take. */
  RdmaException closed(String operation) {
    return closed(operation, null);
  }

  /** Returns the error of an operation that ends with the connection. */
  RdmaException closed(String operation, @Nullable CompletionStatus status) {
    RdmaException why = cause;
    String reason =
        disposed
            ? "the connection was disposed"
            : why == null ? "the connection is closed" : "the connection was lost";
    return new ConnectionClosedException(operation, peer, status, reason, why);
  }

  /** Returns the error of a send to a peer that closes and drops further messages. */
  RdmaException stopped() {
    return new ConnectionClosedException(
        "send",
        peer,
        null,
        "the peer closes and takes no more messages; RdmaConnection.onPeerClosing signals it",
        null);
  }

  /** Returns the error of a work request that completed with this status. */
  RdmaException failed(String operation, CompletionStatus status) {
    return CompletionErrors.of(operation, peer, status, cause);
  }

  /**
   * Returns the error for a flush that this end did not cause, and for a disconnect without a CLOSE
   * before it.
   */
  ConnectionClosedException lost() {
    return new ConnectionClosedException(
        "connection",
        peer,
        CompletionStatus.WR_FLUSH_ERR,
        "the peer disconnected without closing",
        null);
  }

  /** Returns the error for receivers after the last message; null if they complete. */
  @Nullable RdmaException forReceivers() {
    RdmaException why = cause;
    if (!disposed && why instanceof ConnectionClosedException) {
      return why;
    }
    return disposed || why != null ? closed("receive") : null;
  }
}
