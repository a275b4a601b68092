// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/** The peer had no receive posted within the RNR retries: {@code RNR_RETRY_EXC_ERR}. */
public final class ReceiverNotReadyException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param status the completion status of the work request, or null
   * @param reason a description of the failure
   * @param cause or null
   */
  public ReceiverNotReadyException(
      String operation,
      @Nullable String peer,
      @Nullable CompletionStatus status,
      String reason,
      @Nullable Throwable cause) {
    super(operation, peer, status, reason, cause);
  }
}
