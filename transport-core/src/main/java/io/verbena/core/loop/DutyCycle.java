// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** Work that is done in steps, like that of an Agrona {@code Agent}. */
public interface DutyCycle {

  /** Does the work that is due now; returns whether there was any. */
  boolean doWork();

  /**
   * Returns the time at which there may be work even if nothing else happens, on the clock of the
   * {@link DutyCycleInvoker}; {@link Long#MAX_VALUE} if there is none. Called after {@link #doWork}
   * has found no work.
   */
  default long deadline() {
    return Long.MAX_VALUE;
  }

  /** Returns whether there will be no more work. */
  boolean isOver();
}
