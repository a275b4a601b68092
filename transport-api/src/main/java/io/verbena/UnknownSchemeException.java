// SPDX-License-Identifier: Apache-2.0
package io.verbena;

/** No provider has the scheme of the URI. */
public final class UnknownSchemeException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param reason a description of the failure
   */
  public UnknownSchemeException(String reason) {
    super("connect or bind", null, reason);
  }
}
