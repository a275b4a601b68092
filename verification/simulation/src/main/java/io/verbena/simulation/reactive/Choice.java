// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

/**
 * The random choices within a step. Each choice depends only on the seed of the step, an index in
 * the step and the constant of this enum, so it stays the same when other steps are removed.
 */
enum Choice {
  MESSAGE_LENGTH(1),
  LONG_MESSAGE(2),
  HEAP_BUFFER(3),
  RETAIN(4),
  REQUEST_MORE(5),
  STALLED_AGENT(6),
  HELD_UP(7);

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final int use;

  Choice(int use) {
    this.use = use;
  }

  /** Returns a number from 0 to {@code bound - 1}. */
  int below(int bound, long seed, int index) {
    long mixed = mix(mix(seed + GOLDEN * use) + GOLDEN * index);
    return (int) Long.remainderUnsigned(mixed, bound);
  }

  /** Returns true for one of {@code n} indexes, on average. */
  boolean oneIn(int n, long seed, int index) {
    return below(n, seed, index) == 0;
  }

  /** Spreads a number over all 64 bits (the finalizer of SplittableRandom). */
  static long mix(long number) {
    long z = (number ^ (number >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
