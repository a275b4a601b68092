// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

/**
 * Remembers which of the last {@value #SIZE} numbers of a sender were received (RFC 4303, section
 * 3.4.3). Older numbers count as received.
 */
final class ReplayWindow {
  /** More numbers than are ever in flight; a power of two. */
  static final int SIZE = 4096;

  private final long[] seen = new long[SIZE / Long.SIZE];

  /** One past the highest number received. */
  private long end;

  /** Returns whether a number was not received before, and is not too old to tell. */
  boolean isNew(long number) {
    if (number < 0 || number - end < -SIZE) {
      return false;
    }
    return number >= end || (seen[word(number)] & bit(number)) == 0;
  }

  /** Notes that a {@linkplain #isNew new} number was received. */
  void add(long number) {
    if (number >= end) {
      long from = Math.max(end, number - SIZE + 1);
      for (long each = from; each <= number; each++) {
        seen[word(each)] &= ~bit(each);
      }
      end = number + 1;
    }
    seen[word(number)] |= bit(number);
  }

  private static int word(long number) {
    return ((int) number & (SIZE - 1)) / Long.SIZE;
  }

  private static long bit(long number) {
    return 1L << number;
  }
}
