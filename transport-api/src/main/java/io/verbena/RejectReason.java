// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import static java.util.Objects.requireNonNull;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;

/**
 * The reason why a server refused a connection, as its client receives it.
 *
 * @param code a program's own code, 0 to 65535, or one of the constants
 * @param text a human-readable reason; at most {@link #MAX_TEXT} bytes of UTF-8
 */
public record RejectReason(int code, String text) implements Serializable {
  /** The server has reached its limit on connections; try again later, or another server. */
  public static final int CONNECTION_LIMIT = -1;

  /** The server has reached its limit on connections from the client's address. */
  public static final int PEER_LIMIT = -2;

  /** The server's {@link AcceptHook} failed, or gave no answer in time. */
  public static final int HOOK_FAILED = -3;

  /** The most bytes of {@code text}; the reject message of every provider carries as many. */
  public static final int MAX_TEXT = 100;

  private static final int MAX_CODE = 65_535;

  /** Checks code and text. */
  public RejectReason {
    if (code < HOOK_FAILED || code > MAX_CODE) {
      throw new IllegalArgumentException(
          "code: " + code + " (expected: " + HOOK_FAILED + " to " + MAX_CODE + ")");
    }
    int bytes = requireNonNull(text, "text").getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_TEXT) {
      throw new IllegalArgumentException(
          "text: " + bytes + " bytes (expected: <= " + MAX_TEXT + ")");
    }
  }
}
