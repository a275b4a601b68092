// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.engine.Timeline;

/** The time of this machine's monotonic clock; its alarms run when the driver asks. */
public final class ClockTime implements Timeline {
  private final AlarmQueue alarms = new AlarmQueue();
  private final long origin = System.nanoTime();

  @Override
  public long now() {
    return System.nanoTime() - origin;
  }

  @Override
  public Alarm alarm(Runnable action) {
    return alarms.create(action);
  }

  /**
   * Runs alarms that are due.
   *
   * @param most the most alarms to run
   * @return the number of alarms that ran
   */
  public int runDue(int most) {
    long now = now();
    int ran = 0;
    while (ran < most && alarms.runOne(now)) {
      ran++;
    }
    return ran;
  }

  /**
   * Returns the nanoseconds until the next alarm: 0 if it is due, {@link Long#MAX_VALUE} if none is
   * set.
   */
  public long untilNext() {
    long next = alarms.nextDeadline();
    return next == Long.MAX_VALUE ? next : Math.max(0, next - now());
  }
}
