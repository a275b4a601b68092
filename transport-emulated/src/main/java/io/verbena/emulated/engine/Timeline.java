// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * The time of an engine: virtual in a simulation, a clock in a real run. Used by the caller of the
 * engine only, so it needs no thread safety.
 */
public interface Timeline {

  /** Returns the time in nanoseconds from any origin; it never goes back. */
  long now();

  /**
   * Creates an alarm. An engine creates its few when it is created and uses them for its whole
   * life.
   *
   * @param action to be run at the time set, by the caller of the engine; must not throw
   */
  Alarm alarm(Runnable action);

  /** An alarm with one deadline at a time. Neither method allocates. */
  interface Alarm {

    /**
     * Sets or replaces the deadline. The action runs once {@link Timeline#now} is at or past it,
     * never within this call, and not again until the alarm is set again.
     *
     * @param deadline on the scale of {@link Timeline#now}
     */
    void set(long deadline);

    /** Cancels the deadline, if one is set: the action does not run. */
    void cancel();
  }
}
