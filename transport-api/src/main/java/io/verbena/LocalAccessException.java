// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The HCA refused an access to this end's memory: {@code LOC_LEN_ERR}, {@code LOC_PROT_ERR}, {@code
 * LOC_QP_OP_ERR}, {@code LOC_ACCESS_ERR}, {@code MW_BIND_ERR}.
 */
public final class LocalAccessException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param status the completion status of the work request, or null
   * @param reason a description of the failure
   * @param cause or null
   */
  public LocalAccessException(
      String operation,
      @Nullable String peer,
      @Nullable CompletionStatus status,
      String reason,
      @Nullable Throwable cause) {
    super(operation, peer, status, reason, cause);
  }
}
