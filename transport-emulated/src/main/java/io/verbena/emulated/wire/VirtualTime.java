// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.engine.Timeline;

/**
 * Virtual time, which starts at 0 and passes only in {@link #advance}. Alarms of one moment run in
 * the order in which they were set. Uses no clock and no thread. Not thread-safe.
 */
public final class VirtualTime implements Timeline {
  private final AlarmQueue alarms = new AlarmQueue();
  private long now;

  @Override
  public long now() {
    return now;
  }

  @Override
  public Alarm alarm(Runnable action) {
    return alarms.create(action);
  }

  /**
   * Schedules a task that runs once.
   *
   * @param delay the nanoseconds from now; with less than 1, the task is due at the present moment
   * @return the alarm that runs it
   */
  public Alarm schedule(long delay, Runnable task) {
    Alarm alarm = alarms.create(task);
    alarm.set(after(delay));
    return alarm;
  }

  /** Returns the moment {@code delay} nanoseconds from now; {@link Long#MAX_VALUE} on overflow. */
  private long after(long delay) {
    long moment = now + Math.max(0, delay);
    return moment < now ? Long.MAX_VALUE : moment;
  }

  /** Runs the next alarm that is due at the present moment; returns false if there is none. */
  public boolean runDue() {
    return alarms.runOne(now);
  }

  /**
   * Advances to the moment of the next alarm without running it.
   *
   * @param limit the latest moment to advance to
   * @return false if there is no alarm up to the limit, so that time does not advance
   */
  public boolean advance(long limit) {
    long next = alarms.nextDeadline();
    if (alarms.size() == 0 || next > limit) {
      return false;
    }
    now = Math.max(now, next);
    return true;
  }

  /** Returns the number of alarms that are set; with 0, nothing more happens by itself. */
  public int pending() {
    return alarms.size();
  }
}
