// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * How the end that takes messages in another process tells how many it has: after each {@value
 * #EVERY}, in {@value #BYTES} bytes.
 */
public final class Tally {
  public static final int EVERY = 16;
  public static final int BYTES = Long.BYTES;

  private Tally() {}

  /** As many messages or a few more, so that the last of them is told of. */
  public static long rounded(long messages) {
    return (messages + EVERY - 1) / EVERY * EVERY;
  }
}
