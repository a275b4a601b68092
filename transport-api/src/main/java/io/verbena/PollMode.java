// SPDX-License-Identifier: Apache-2.0
package io.verbena;

/** The way in which a completion loop waits for work. */
public enum PollMode {
  /** Polls without end: the lowest latency, one CPU for each loop. */
  BUSY,
  /**
   * Polls, spins as long as that has paid lately, at most for {@link RdmaOptions#spinTime}, then
   * arms and sleeps.
   */
  ADAPTIVE,
  /** Arms and sleeps as soon as there is nothing to do. */
  EVENT
}
