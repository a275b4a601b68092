// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.ConnectionClosedException;
import io.verbena.HcaException;
import io.verbena.LocalAccessException;
import io.verbena.PeerUnreachableException;
import io.verbena.RdmaException;
import io.verbena.ReceiverNotReadyException;
import io.verbena.RemoteAccessException;
import io.verbena.RemoteRequestException;
import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/** Maps a completion status to the exception for users. */
final class CompletionErrors {
  private CompletionErrors() {}

  /**
   * Returns the exception for a failed work request.
   *
   * @param cause what ended the connection, or null
   */
  static RdmaException of(
      String operation, String peer, CompletionStatus status, @Nullable Throwable cause) {
    return switch (status) {
      case LOC_LEN_ERR ->
          new LocalAccessException(
              operation, peer, status, "a local buffer does not fit what came", cause);
      case LOC_PROT_ERR, LOC_QP_OP_ERR, LOC_ACCESS_ERR, MW_BIND_ERR ->
          new LocalAccessException(
              operation, peer, status, "the HCA refused the local memory", cause);
      case REM_ACCESS_ERR ->
          new RemoteAccessException(
              operation,
              peer,
              status,
              "the peer's memory protection refused: wrong or dead key, range, or right",
              cause);
      case REM_INV_REQ_ERR, REM_OP_ERR, BAD_RESP_ERR ->
          new RemoteRequestException(
              operation, peer, status, "the peer refused the request", cause);
      case RETRY_EXC_ERR, RESP_TIMEOUT_ERR ->
          new PeerUnreachableException(
              operation, peer, status, "the peer did not answer within the retries", cause);
      case RNR_RETRY_EXC_ERR ->
          new ReceiverNotReadyException(
              operation, peer, status, "the peer had no receive posted within the retries", cause);
      case WR_FLUSH_ERR ->
          new ConnectionClosedException(
              operation,
              peer,
              status,
              // The flush often arrives before the connection manager's event.
              cause == null ? "the peer disconnected" : "the connection was lost",
              cause);
      case SUCCESS, FATAL_ERR, GENERAL_ERR ->
          new HcaException(operation, peer, status, "the HCA failed", cause);
    };
  }
}
