// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** Work that is done in steps, as an agent of Agrona does it. */
public interface DutyCycle {

  /** Does the work that is due now; returns whether there was any. */
  boolean doWork();

  /** Returns whether there will be no more work. */
  boolean isOver();
}
