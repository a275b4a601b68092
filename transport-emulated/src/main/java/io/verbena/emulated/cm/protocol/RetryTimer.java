// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.engine.Timeline;

/**
 * When a message that nobody answers is sent again: at first soon, then ever later, until a
 * deadline. Its alarm serves other waits of the same state machine, too: one at a time.
 */
final class RetryTimer {
  static final long MILLI = 1_000_000;

  private final Timeline timeline;
  private final Timeline.Alarm alarm;
  private long deadline;
  private long delay;

  /**
   * A timer that is not set.
   *
   * @param due called when a message is to be sent again, at the deadline, or after another wait
   */
  RetryTimer(Timeline timeline, Runnable due) {
    this.timeline = timeline;
    alarm = timeline.alarm(due);
  }

  long now() {
    return timeline.now();
  }

  /** A message is about to be sent; {@link #sleep} follows. */
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

  /** Has the next retry come later than the last one, by no more than {@code longest}. */
  void backOff(long longest) {
    delay = Math.min(2 * delay, longest);
  }

  /** Has the next retry come so late. */
  void delay(long nanos) {
    delay = nanos;
  }

  boolean isOver() {
    return now() - deadline >= 0;
  }

  /** Waits for something else. */
  void await(long nanos) {
    alarm.set(now() + nanos);
  }

  void cancel() {
    alarm.cancel();
  }
}
