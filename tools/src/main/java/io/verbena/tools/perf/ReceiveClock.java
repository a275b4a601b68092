// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/**
 * Counts messages and their time of arrival. Messages of the first poll came before the clock was
 * read, in an unknown time, and are not timed. One thread.
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

  /** Returns the number of messages. */
  long count() {
    return count;
  }

  /** Returns the number of messages that came within {@link #nanos}. */
  long timed() {
    return count - untimed;
  }

  long nanos() {
    return last - first;
  }
}
