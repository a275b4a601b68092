// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The peer refused the operation: {@code REM_INV_REQ_ERR}, {@code REM_OP_ERR}, {@code
 * BAD_RESP_ERR}. It is misaligned, is not allowed on the queue pair, or failed at the peer.
 */
public final class RemoteRequestException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param status the completion status of the work request, or null
   * @param reason a description of the failure
   * @param cause or null
   */
  public RemoteRequestException(
      String operation,
      @Nullable String peer,
      @Nullable CompletionStatus status,
      String reason,
      @Nullable Throwable cause) {
    super(operation, peer, status, reason, cause);
  }
}
