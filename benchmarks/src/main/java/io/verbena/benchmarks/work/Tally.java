// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * The reports by which the receiver in another process tells how many messages it has: one of
 * {@value #BYTES} bytes after each {@value #EVERY} messages.
 */
public final class Tally {
  public static final int EVERY = 16;
  public static final int BYTES = Long.BYTES;

  private Tally() {}

  /** Rounds a number of messages up, so that the receiver reports the last one. */
  public static long rounded(long messages) {
    return (messages + EVERY - 1) / EVERY * EVERY;
  }
}
