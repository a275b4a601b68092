// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

/**
 * The digits of a 64-bit counter. Each fetch-and-add increments a digit of its own, so that the sum
 * shows how often each of them was executed.
 */
public final class CounterDigits {
  private static final int BITS = 2;
  private static final int MASK = (1 << BITS) - 1;

  /** The number of digits of a counter. */
  public static final int COUNT = Long.SIZE / BITS;

  private CounterDigits() {}

  /** Returns the value to add to increment a digit. */
  public static long addend(int digit) {
    return 1L << (BITS * digit);
  }

  /** Returns the value of a digit. */
  public static int get(long counter, int digit) {
    return (int) (counter >>> (BITS * digit)) & MASK;
  }
}
