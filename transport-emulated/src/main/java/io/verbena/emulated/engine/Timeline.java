// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * The time that an engine lives in: virtual in a simulation, a clock in a real run. Used by the
 * caller of the engine only, so it needs no thread safety.
 */
public interface Timeline {

  /** The time in nanoseconds from any origin; it never goes back. */
  long now();

  /**
   * Makes an alarm. An engine makes its few when it is created and uses them for its whole life.
   *
   * @param action to be run, by whoever calls the engine, at the time set; it does not throw
   */
  Alarm alarm(Runnable action);

  /** One deadline at a time. Neither method allocates. */
  interface Alarm {

    /**
     * Sets or replaces the deadline. The action runs once {@link Timeline#now} is at or past it,
     * never within this call, and not again until the alarm is set again.
     *
     * @param deadline on the scale of {@link Timeline#now}
     */
    void set(long deadline);

    /** Forgets the deadline, if one is set: the action does not run. */
    void cancel();
  }
}
