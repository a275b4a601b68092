package io.verbena.tools.ping;

import io.verbena.tools.end.ToolFailure;
import java.time.Duration;

/**
 * What both ends go by.
 *
 * @param size bytes of a ping
 * @param count pings of a client; 0 for no end
 * @param validate whether data are looked at
 * @param limit how long nothing may come
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
        "see whether both ends were given the same -S");
  }
}
