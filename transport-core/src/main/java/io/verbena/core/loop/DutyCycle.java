// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** Work that is done in steps, as an agent of Agrona does it. */
public interface DutyCycle {

  /** Does the work that is due now; returns whether there was any. */
  boolean doWork();

  /**
   * Returns when there may be work though nothing else happens until then, on the clock of the
   * {@link DutyCycleInvoker}; {@link Long#MAX_VALUE} if there is none. Asked after {@link #doWork}
   * found nothing to do.
   */
  default long deadline() {
    return Long.MAX_VALUE;
  }

  /** Returns whether there will be no more work. */
  boolean isOver();
}
