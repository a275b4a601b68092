// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.engine.Timeline;

/**
 * Time that passes only when nothing is left to do at its present moment. It starts at 0; alarms of
 * one moment run in the order in which they were set; it uses no clock and no thread.
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
   * Runs a task once, later.
   *
   * @param delay nanoseconds from now; less than 1 means as soon as the caller is done
   * @return the alarm that runs it
   */
  public Alarm schedule(long delay, Runnable task) {
    Alarm alarm = alarms.create(task);
    alarm.set(after(delay));
    return alarm;
  }

  /**
   * Returns the moment {@code delay} nanoseconds from now, or {@link Long#MAX_VALUE} if it is
   * beyond.
   */
  private long after(long delay) {
    long moment = now + Math.max(0, delay);
    return moment < now ? Long.MAX_VALUE : moment;
  }

  /** Runs the next alarm of the present moment; false if there is none. */
  public boolean runDue() {
    return alarms.runOne(now);
  }

  /**
   * Advances to the moment of the next alarm, without running it.
   *
   * @param limit the last moment to advance to
   * @return false if there is no alarm up to the limit; time then stands still
   */
  public boolean advance(long limit) {
    long next = alarms.nextDeadline();
    if (alarms.size() == 0 || next > limit) {
      return false;
    }
    now = Math.max(now, next);
    return true;
  }

  /** Returns the number of alarms that are set: 0 once nothing will ever happen again by itself. */
  public int pending() {
    return alarms.size();
  }
}
