// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.ping;

import io.verbena.tools.end.ToolFailure;
import java.time.Duration;

/**
 * The options of both ends.
 *
 * @param size bytes of a ping
 * @param count pings of a client; 0 for no end
 * @param validate whether data are validated
 * @param limit the longest time in which nothing completes
 */
record PingOptions(int size, int count, boolean validate, Duration limit) {

  static ToolFailure mismatch(int ping, int at, byte came, byte expected) {
    return new ToolFailure(
        "data mismatch! ping "
            + ping
            + ", byte "
            + at
            + ": "
            + (came & 0xff)
            + " (expected: "
            + (expected & 0xff)
            + ")",
        "check that both ends have the same -S");
  }
}
