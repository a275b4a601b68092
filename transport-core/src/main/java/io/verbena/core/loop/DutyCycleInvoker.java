// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.function.BooleanSupplier;

/**
 * Invokes the duty cycles of a transport's loops and dispatchers in place of threads of their own,
 * and is their clock: for simulations, where one thread does all work and time is virtual. That
 * thread calls all methods.
 */
public interface DutyCycleInvoker {

  /** Returns the time in nanoseconds, from an arbitrary origin; it never goes back. */
  long nanoTime();

  /** Adds a duty cycle, to be invoked until it is over. */
  void add(DutyCycle dutyCycle);

  /**
   * Invokes all duty cycles, and lets time pass, until a condition holds. Not called within a duty
   * cycle.
   *
   * @param done the condition
   * @param nanos the longest wait, in nanoseconds
   * @return whether the condition holds
   */
  boolean awaitFor(BooleanSupplier done, long nanos);
}
