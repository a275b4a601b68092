// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * The time of an engine: virtual in a simulation, a clock in a real run. Not thread-safe: only the
 * caller of the engine uses it.
 */
public interface Timeline {

  /** Returns the time in nanoseconds since an arbitrary origin; never decreases. */
  long now();

  /**
   * Creates an alarm. An engine creates its few alarms once and uses them for its whole life.
   *
   * @param action run by the caller of the engine at the deadline; must not throw
   */
  Alarm alarm(Runnable action);

  /** An alarm with one deadline at a time. Neither method allocates. */
  interface Alarm {

    /**
     * Sets or replaces the deadline. The action runs once per call, when {@link Timeline#now} has
     * reached the deadline, and never within this call.
     *
     * @param deadline on the scale of {@link Timeline#now}
     */
    void set(long deadline);

    /** Cancels the deadline, if one is set, so that the action does not run. */
    void cancel();
  }
}
