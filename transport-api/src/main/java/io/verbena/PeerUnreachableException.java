// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/** The peer did not answer within the retries: {@code RETRY_EXC_ERR}, {@code RESP_TIMEOUT_ERR}. */
public final class PeerUnreachableException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param status the completion status of the work request, or null
   * @param reason a description of the failure
   * @param cause or null
   */
  public PeerUnreachableException(
      String operation,
      @Nullable String peer,
      @Nullable CompletionStatus status,
      String reason,
      @Nullable Throwable cause) {
    super(operation, peer, status, reason, cause);
  }
}
