// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The parts in which the bytes of one message are moved, at different times and in any order: a
 * permutation of ranges that cover it.
 */
final class MessageParts {
  private static final int MOST = 6;

  private final SplittableRandom random;
  private final int[] cuts = new int[MOST + 1];
  private final int[] order = new int[MOST];
  private int count;
  private int moved;

  MessageParts(SplittableRandom random) {
    this.random = random;
  }

  /** Makes parts of {@code length} bytes, unless there are some. */
  void begin(int length) {
    if (count > 0) {
      return;
    }
    count = length == 1 ? 1 : 1 + random.nextInt(MOST);
    for (int i = 1; i < count; i++) {
      cuts[i] = random.nextInt(length + 1);
    }
    cuts[0] = 0;
    Arrays.sort(cuts, 1, count);
    cuts[count] = length;
    for (int i = 0; i < count; i++) {
      int at = random.nextInt(i + 1);
      order[i] = order[at];
      order[at] = i;
    }
  }

  /** Where the piece that is to be moved now begins. */
  int from() {
    return cuts[order[moved]];
  }

  /** Its length, which may be 0. */
  int length() {
    return cuts[order[moved] + 1] - from();
  }

  /** A piece was moved; whether there are more. */
  boolean next() {
    if (count == 0 || ++moved == count) {
      reset();
      return false;
    }
    return true;
  }

  /** Forgets what was moved. */
  void reset() {
    count = 0;
    moved = 0;
  }
}
