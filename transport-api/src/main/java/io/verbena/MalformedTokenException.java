// SPDX-License-Identifier: Apache-2.0
package io.verbena;

/** The bytes are not a {@link RemoteMemory} token. */
public final class MalformedTokenException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param reason a description of the failure
   */
  public MalformedTokenException(String reason) {
    super("decode token", null, reason);
  }
}
