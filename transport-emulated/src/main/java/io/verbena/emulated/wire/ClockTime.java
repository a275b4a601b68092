// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.engine.Timeline;

/** The time of this machine's monotonic clock; its alarms run when the driver asks. */
public final class ClockTime implements Timeline {
  /** Rounds of work for one look at the clock, which took a fifth of a READ of 4 KiB. */
  private static final int ROUNDS = 4;

  private final AlarmQueue alarms = new AlarmQueue();
  private final long origin = System.nanoTime();
  private int rounds;

  @Override
  public long now() {
    return System.nanoTime() - origin;
  }

  @Override
  public Alarm alarm(Runnable action) {
    return alarms.create(action);
  }

  /**
   * Runs alarms that are due. They may be late by some rounds in which the caller has found work,
   * and by none in which it has not.
   *
   * @param most the most alarms to run
   * @param done how much work the caller has done since it called last: packets, for instance
   * @return the number of alarms that ran
   */
  public int runDue(int most, int done) {
    rounds += done;
    if (done > 0 && rounds < ROUNDS) {
      return 0;
    }
    rounds = 0;
    if (alarms.size() == 0) {
      return 0;
    }
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
