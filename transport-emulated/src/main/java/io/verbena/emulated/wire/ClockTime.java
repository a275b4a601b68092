// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.engine.Timeline;

/**
 * The time of this machine's monotonic clock. Its alarms run in {@link #runDue}. Not thread-safe:
 * only the driver of the engines uses it.
 */
public final class ClockTime implements Timeline {
  /**
   * Rounds of work between two readings of the clock. Reading it each time took a fifth of the time
   * of a 4 KiB READ.
   */
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
   * Runs alarms that are due. They may be late by a few calls in which the caller has done work,
   * but not by calls in which it has done none.
   *
   * @param most the most alarms to run
   * @param done the amount of work that the caller has done since the last call, for instance in
   *     packets
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
   * Returns the nanoseconds until the next alarm: 0 if one is due, {@link Long#MAX_VALUE} if none
   * is set.
   */
  public long untilNext() {
    long next = alarms.nextDeadline();
    return next == Long.MAX_VALUE ? next : Math.max(0, next - now());
  }
}
