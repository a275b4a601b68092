// SPDX-License-Identifier: Apache-2.0
package io.verbena;

/** The way in which a completion loop waits for work. */
public enum PollMode {
  /** Polls without pause: the lowest latency, at the cost of one CPU for each loop. */
  BUSY,
  /**
   * Polls, spins for a time that it learns from recent idle periods, at most {@link
   * RdmaOptions#spinTime}, then arms and sleeps.
   */
  ADAPTIVE,
  /** Arms and sleeps as soon as there is nothing to do. */
  EVENT
}
