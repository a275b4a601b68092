// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

/** The failure of a tool, which ends with exit code 1. */
public final class ToolFailure extends Exception {
  private static final long serialVersionUID = 1L;

  /** Advice for the user; may be empty. */
  private final String advice;

  /**
   * @param message what failed, with the value and what was expected
   * @param advice what the user can do about it, or an empty string
   */
  public ToolFailure(String message, String advice) {
    super(message);
    this.advice = advice;
  }

  /** Advice for the user, or an empty string. */
  public String advice() {
    return advice;
  }
}
