// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The peer's memory protection refused the access: {@code REM_ACCESS_ERR}. The key is wrong or no
 * longer valid, or does not permit this range, domain or right.
 */
public final class RemoteAccessException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param status the completion status of the work request, or null
   * @param reason a description of the failure
   * @param cause or null
   */
  public RemoteAccessException(
      String operation,
      @Nullable String peer,
      @Nullable CompletionStatus status,
      String reason,
      @Nullable Throwable cause) {
    super(operation, peer, status, reason, cause);
  }
}
