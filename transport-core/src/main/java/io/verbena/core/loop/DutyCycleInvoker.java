// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.function.BooleanSupplier;

/**
 * Invokes the duty cycles of a transport's loops and dispatchers, and gives them the time, in place
 * of threads of their own: for simulations, where one thread does everything and time is virtual.
 * That thread calls all methods.
 */
public interface DutyCycleInvoker {

  /** Returns the time in nanoseconds from some moment on; never goes back. */
  long nanoTime();

  /** Adds a duty cycle, to be invoked until it is over. */
  void add(DutyCycle dutyCycle);

  /**
   * Invokes all duty cycles, and lets time pass, until a condition holds. Not called within a duty
   * cycle.
   *
   * @param nanos how long to try at the most
   * @return whether the condition holds
   */
  boolean awaitFor(BooleanSupplier done, long nanos);
}
