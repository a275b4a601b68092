// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import org.jspecify.annotations.Nullable;

/**
 * A memory limit is reached, and nothing was registered. The message names the limit: the
 * transport's on registered memory, the JVM's on direct memory, or the system's on locked memory.
 */
public final class MemoryLimitException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param reason a description of the failure
   */
  public MemoryLimitException(String operation, @Nullable String peer, String reason) {
    this(operation, peer, reason, null);
  }

  /**
   * @param operation the name of the operation
   * @param peer the peer's human-readable address, or null
   * @param reason a description of the failure
   * @param cause or null
   */
  public MemoryLimitException(
      String operation, @Nullable String peer, String reason, @Nullable Throwable cause) {
    super(operation, peer, null, reason, cause);
  }
}
