// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import org.jspecify.annotations.Nullable;

/**
 * The answer of an {@link AcceptHook}.
 *
 * @param rejection why the connection is refused; null if it is accepted
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
   * @param code 0 to 65535, whose meaning the programs agree on
   * @param text readable by people; at most {@link RejectReason#MAX_TEXT} bytes of UTF-8
   */
  public static AcceptDecision reject(int code, String text) {
    if (code < 0) {
      throw new IllegalArgumentException("code: " + code + " (expected: >= 0)");
    }
    return new AcceptDecision(new RejectReason(code, text));
  }
}
