// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import org.jspecify.annotations.Nullable;

/**
 * The answer of an {@link AcceptHook}.
 *
 * @param rejection the reason for refusing the connection; null to accept it
 */
public record AcceptDecision(@Nullable RejectReason rejection) {
  private static final AcceptDecision ACCEPT = new AcceptDecision(null);

  /** Accepts the connection. */
  public static AcceptDecision accept() {
    return ACCEPT;
  }

  /**
   * Refuses the connection.
   *
   * @param code a program's own code, 0 to 65535
   * @param text a human-readable reason; at most {@link RejectReason#MAX_TEXT} bytes of UTF-8
   */
  public static AcceptDecision reject(int code, String text) {
    if (code < 0) {
      throw new IllegalArgumentException("code: " + code + " (expected: >= 0)");
    }
    return new AcceptDecision(new RejectReason(code, text));
  }
}
