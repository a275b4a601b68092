// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/**
 * Counts messages and the time that they took to come. Those of the first poll came before the
 * clock was read, in no time that is known, and are not timed. One thread.
 */
final class ReceiveClock {
  private long count;
  private long untimed;
  private long first;
  private long last;

  /** Adds the messages of a poll. */
  void came(int messages, long now) {
    if (count == 0) {
      untimed = messages;
      first = now;
    }
    count += messages;
    last = now;
  }

  /** Returns how many messages have come. */
  long count() {
    return count;
  }

  /** Returns how many of them came within {@link #nanos}. */
  long timed() {
    return count - untimed;
  }

  long nanos() {
    return last - first;
  }
}
