// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.engine.Timeline;

/**
 * Decides when an unanswered message is sent again: first soon, then at growing intervals, until a
 * deadline. Its alarm also serves other waits of the same state machine, one wait at a time. All
 * times are in nanoseconds.
 */
final class RetryTimer {
  static final long MILLI = 1_000_000;

  private final Timeline timeline;
  private final Timeline.Alarm alarm;
  private long deadline;
  private long delay;

  /**
   * Creates a timer that is not set.
   *
   * @param due called when a message has to be sent again, at the deadline, or at the end of
   *     another wait
   */
  RetryTimer(Timeline timeline, Runnable due) {
    this.timeline = timeline;
    alarm = timeline.alarm(due);
  }

  long now() {
    return timeline.now();
  }

  /** Begins the retries of a message that is about to be sent; {@link #sleep} follows. */
  void begin(long patience, long firstRetry) {
    deadline = now() + patience;
    if (deadline < 0) {
      deadline = Long.MAX_VALUE;
    }
    delay = firstRetry;
  }

  /** Waits for the next retry, or for the deadline. */
  void sleep() {
    alarm.set(Math.min(deadline, now() + delay));
  }

  /** Waits for the deadline. */
  void sleepToDeadline() {
    alarm.set(deadline);
  }

  /** Doubles the delay of the next retry, up to {@code longest}. */
  void backOff(long longest) {
    delay = Math.min(2 * delay, longest);
  }

  /** Sets the delay of the next retry. */
  void delay(long nanos) {
    delay = nanos;
  }

  boolean isOver() {
    return now() - deadline >= 0;
  }

  /** Waits for a time without retries. */
  void await(long nanos) {
    alarm.set(now() + nanos);
  }

  void cancel() {
    alarm.cancel();
  }
}
